// What nobody should type: the page stays alive whatever Python is busy with.

const TWENTY = `[${[...Array(20).keys()].join(", ")}]`;
const ENDLESS = `${"abcde".split("").reduceRight((inner, name) => `${TWENTY}.all(${name}, ${inner})`, "a + b + c + d + e >= 0")}`;
const POLICIES = [...Array(60).keys()].flatMap((n) => [
  { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicy", metadata: { name: `endless${n}` }, spec: {
    matchConstraints: { resourceRules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }] },
    validations: [{ expression: ENDLESS }],
  } },
  { apiVersion: "admissionregistration.k8s.io/v1", kind: "ValidatingAdmissionPolicyBinding", metadata: { name: `endless${n}` }, spec: {
    policyName: `endless${n}`, validationActions: ["Deny"],
  } },
]).map((document) => JSON.stringify(document)).join("\n---\n");
const LINES = Array.from({ length: 3000 }, (_, n) => `  key${n}: the value of the key number ${n}`).join("\n");
const LARGE = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: large\ndata:\n${LINES}\n`;
const BOMB = `a: &a [x, x, x, x, x, x, x, x, x]\n${[..."bcdefghij"].map((name, n) => `${name}: &${name} [${Array(9).fill(`*${"abcdefghij"[n]}`).join(", ")}]`).join("\n")}\n`;

/** {name: {said, turns}}: what the page shows at last, and how many turns its own timer had until then.
 * `open` puts a state into the page, `settled` waits for all that is said of it. */
export async function hostility(page, open, settled) {
  const seen = {};
  const states = {
    large: { mode: "validating", panes: { object: LARGE } },
    deep: { mode: "validating", panes: { object: "[".repeat(100_000) } },
    unclosed: { mode: "validating", panes: { object: "[".repeat(600) } },
    bomb: { mode: "expression", panes: { expression: "a.size()", variables: BOMB } },
    nested: { mode: "expression", panes: { expression: "(".repeat(20_000) } },
    binary: { mode: "validating", panes: { object: "\u0000\u0007\ufffd\u202e{{" } },
    markup: { mode: "validating", panes: { object: "kind: <img src=x onerror=alert(1)>\napiVersion: v1\nmetadata: {name: <b>}" } },
    endless: { mode: "expression", panes: { expression: ENDLESS } },
  };
  for (const [name, state] of Object.entries(states)) {
    await watch(page);
    await settled(() => open({ version: 1, ...state }));
    seen[name] = { said: (await page.innerText("#verdict-body")).slice(0, 400), turns: await page.evaluate(() => window.turns) };
  }
  seen.stopped = await stopped(page, open);
  return seen;
}

/** Policies that each spend all that they may are stopped by a button; then the page goes on. One
 * of them can be over before a quick machine shows the button. */
async function stopped(page, open) {
  await open({ version: 1, mode: "validating", panes: { policy: POLICIES, object: "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}" } });
  await page.waitForSelector("#verdict[aria-busy=true]");
  await page.click("#stop");
  await page.waitForFunction(() => document.getElementById("results").innerText.includes("stopped"));
  const said = await page.innerText("#results");
  await open({ version: 1, mode: "expression", panes: { expression: "1 + 1" } });
  await page.waitForFunction(() => document.getElementById("verdict-body").textContent.startsWith("2"));
  return { said: said.slice(0, 400), then: await page.innerText("#verdict-body") };
}

/** Counts from now on the turns of a timer, which a page that is busy itself does not get. */
/** Counts from now on the turns of a timer, which a page that is busy itself does not get. */
function watch(page) {
  return page.evaluate(() => {
    clearInterval(window.watching);
    window.turns = 0;
    window.watching = setInterval(() => { window.turns += 1; }, 20);
  });
}
