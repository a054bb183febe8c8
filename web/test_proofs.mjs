// The tab of proofs, in a browser: what it answers, that it can be stopped, and that nobody waits for it.

const SLOW = `apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: slow}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE, UPDATE, DELETE], resources: ["*"]}
  validations:
`;
const HARD = [2, 3, 5, 7, 11, 13].map((n) => `  - expression: >-
      !has(object.metadata.annotations) || object.metadata.annotations.all(k, v,
      object.metadata.annotations.all(l, w, k.size() * k.size() * w.size() + v.size() * l.size() * l.size() != ${n} * k.size() * w.size() * w.size() + ${n}))
`).join("");

/** What is seen of an entry of the gallery. `open` puts a state into the page, `changing` waits for all
 * that is said of it, `looks` takes pictures of the page. */
export async function proofs(page, { entry, open, changing, looks }) {
  const seen = { answers: {} };
  await changing(() => page.selectOption("#gallery", entry));
  for (const question of ["prove", "diff", "claim"]) {
    await answered(page, question);
    seen.answers[question] = { progress: await page.innerText("#proof-progress"), said: await page.innerText("#proof-answers"), heard: await page.textContent("#proof-heard") };
    if (question === "diff") await looks("proofs");
  }
  await page.locator("#editor-request .cm-content").click();
  await changing(() => page.keyboard.type("#"));
  seen.outdated = await page.innerText("#proof-answers .outdated");
  await changing(() => page.selectOption("#gallery", entry));
  await answered(page, "diff");
  await changing(() => page.click("#proof-answers button:text('Decide this request')"));
  seen.decided = { said: await page.innerText("#verdict-body"), tab: await page.$eval("#tab-verdict", (one) => one.ariaSelected), focus: await page.evaluate(() => document.activeElement.id) };
  await changing(() => page.goBack());
  seen.back = { object: await page.locator("#tab-request-before").count(), tab: await page.$eval("#tab-proofs", (one) => one.ariaSelected) };
  await page.locator("#tab-proofs").focus();
  await changing(() => page.keyboard.press("ArrowLeft"));
  seen.arrow = await page.evaluate(() => document.activeElement.id);
  seen.stopped = await stopped(page, open, changing);
  await changing(() => open({ version: 1, mode: "rules", view: "proofs", panes: { policy: "[".repeat(600) } }));
  await answered(page, "prove");
  seen.broken = await page.innerText("#proof-answers");
  await changing(() => open({ version: 1, mode: "expression", view: "proofs", panes: { expression: "1" } }));
  seen.elsewhere = await page.isVisible("#tabs-answers");
  return seen;
}

async function answered(page, question) {
  const before = await page.$eval("#proofs", (one) => Number(one.dataset.answered ?? 0));
  await page.click(`[data-proof=${question}]`);
  await page.waitForFunction((before) => Number(document.getElementById("proofs").dataset.answered ?? 0) > before, before);
}

/** A question without end: the page decides what is typed meanwhile, and a button ends the question. */
async function stopped(page, open, changing) {
  await changing(() => open({ version: 1, mode: "validating", view: "proofs", panes: { policy: SLOW + HARD } }));
  const before = await page.$eval("#proofs", (one) => Number(one.dataset.answered ?? 0));
  await page.click("[data-proof=prove]");
  await page.waitForFunction(() => document.getElementById("proof-progress").textContent.startsWith("slow"));
  await page.locator("#editor-policies .cm-content").click();
  await changing(() => page.keyboard.type("#"));
  const busy = await page.getAttribute("#proofs", "aria-busy");
  await page.click("#end");
  await page.waitForFunction((before) => Number(document.getElementById("proofs").dataset.answered) > before, before);
  return { busy, said: await page.innerText("#proof-answers"), enabled: await page.isEnabled("[data-proof=prove]") };
}
