// Pages of the documentation in headless Chromium, in light, dark and on a phone: an audit by axe, what
// is wider than the screen, and whether the keyboard is enough. Prints what was seen, as JSON.
//
//   node test_docs_site.mjs --url URL --chromium PROGRAM PAGE...

import { createRequire } from "node:module";
import fs from "node:fs";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

const AXE = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SHAPES = {
  light: { viewport: { width: 1280, height: 900 }, colorScheme: "light" },
  dark: { viewport: { width: 1280, height: 900 }, colorScheme: "dark" },
  phone: { viewport: { width: 390, height: 844 }, colorScheme: "light", hasTouch: true, isMobile: true },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { url: { type: "string" }, chromium: { type: "string" }, pictures: { type: "string" } },
});
const seen = { axe: {}, wide: [], hosts: new Set(), console: [] };
const browser = await chromium.launch({
  executablePath: values.chromium,
  args: ["--no-sandbox", "--disable-gpu"],
});
try {
  for (const [shape, options] of Object.entries(SHAPES)) {
    const context = await browser.newContext(options);
    const page = await context.newPage();
    page.on("request", (request) => seen.hosts.add(new URL(request.url()).host));
    page.on("console", (message) => message.type() === "error" && seen.console.push(message.text()));
    for (const name of positionals) {
      await page.goto(values.url + name);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate(() => axe.run());
      seen.axe[`${name} ${shape}`] = violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map((one) => one.html.slice(0, 120)).join(" ") }));
      const beyond = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      if (beyond > 0) seen.wide.push(`${name} ${shape}: ${beyond}`);
      if (values.pictures) await page.screenshot({ path: `${values.pictures}/${name.replaceAll("/", "-")}-${shape}.png` });
    }
    if (shape === "light") Object.assign(seen, await byKeyboard(page));
    await context.close();
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify({ ...seen, hosts: [...seen.hosts] }));

/** From the landing page to a tutorial by Tab and Enter; and a search. */
async function byKeyboard(page) {
  await page.goto(values.url + "index.html");
  let reached = "";
  for (let presses = 0; presses < 120 && !reached; presses++) {
    await page.keyboard.press("Tab");
    reached = await page.evaluate(() => {
      const { activeElement } = document;
      return activeElement?.matches("article a") && activeElement.textContent.includes("your first policy") ? "found" : "";
    });
  }
  await page.keyboard.press("Enter");
  await page.waitForURL("**/tutorials/policy-author.html");
  const title = await page.title();
  await page.goto(values.url + "search.html?q=lock-outs");
  await page.waitForSelector("#search-results ul.search li a");
  return { title, found: await page.locator("#search-results ul.search li a").first().textContent() };
}
