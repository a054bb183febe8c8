// What stands in the panes of each mode. Choosing a mode brings back what was there, and at first an
// example: what decides is always of the mode that is chosen.

export class KeptModes {
  /** `gallery`: {state} of examples, each with its mode. */
  constructor(gallery) {
    this.kept = {};
    this.gallery = gallery;
  }

  /** The state after another mode was chosen: the panes of `state` are kept for when its mode comes back. */
  changed(state, mode) {
    if (mode === state.mode) return state;
    this.kept[state.mode] = state.panes;
    const example = this.gallery.find((one) => (one.state.mode ?? "validating") === mode)?.state;
    if (this.kept[mode]) return { ...state, mode, panes: this.kept[mode] };
    return { ...state, mode, operation: example?.operation ?? "CREATE", subresource: example?.subresource ?? "", panes: example?.panes ?? {} };
  }

  /** Another state altogether: nothing that was kept belongs to it. */
  forget() {
    this.kept = {};
  }
}
