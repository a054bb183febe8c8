// The panes of modes, without a page: node test_kept_modes.mjs

import assert from "node:assert/strict";
import { KeptModes } from "./src/kept_modes.js";

const gallery = [
  { state: { mode: "validating", panes: { policy: "first" } } },
  { state: { mode: "rules", operation: "UPDATE", panes: { policy: "a definition", object: "a lamp" } } },
  { state: { mode: "rules", panes: { policy: "another" } } },
];
const modes = new KeptModes(gallery);
const mine = { mode: "validating", operation: "CREATE", release: "1.30", panes: { policy: "my policy", binding: "mine" } };

assert.equal(modes.changed(mine, "validating"), mine, "the same mode changes nothing");
const rules = modes.changed(mine, "rules");
assert.deepEqual(rules.panes, gallery[1].state.panes, "the first example of the mode");
assert.equal(rules.operation, "UPDATE", "with what it asks");
assert.equal(rules.release, "1.30", "in the release that was chosen");
const typed = { ...rules, panes: { policy: "my definition" } };
assert.deepEqual(modes.changed(typed, "validating").panes, mine.panes, "what was typed comes back");
assert.deepEqual(modes.changed({ ...mine }, "rules").panes, typed.panes, "in every mode");
assert.deepEqual(modes.changed(typed, "webhook").panes, {}, "a mode without example is empty");
modes.forget();
assert.deepEqual(modes.changed(mine, "rules").panes, gallery[1].state.panes, "another state has other panes");
process.stdout.write("ok\n");
