// The worker, from the page's side: it answers one question after the other. One that takes too long
// is stopped by ending the worker; another goes on with what waits.

const PATIENCE = 15_000; // milliseconds for one answer, once Python is there

export class Asker {
  /** `busy(is)` is told when an answer takes a while, and when it is over. */
  constructor(url, busy) {
    this.url = url;
    this.busy = busy;
    this.waiting = [];
    this.asked = 0;
    this.begin();
  }

  begin() {
    this.running = false;
    this.worker = new Worker(this.url, { type: "module" });
    this.worker.onmessage = ({ data }) => (data.started ? this.started(data.started) : this.answered(data));
    this.worker.onerror = ({ message }) => this.answered({ id: this.waiting[0]?.id, answer: { error: `the playground could not be loaded: ${message}` } });
    for (const one of this.waiting) this.send(one);
  }

  started(how) {
    document.documentElement.dataset.started = how;
    this.running = true;
    this.watch();
  }

  /** The answer, or {error, stopped: true}. */
  ask(question, given) {
    return new Promise((done) => {
      const one = { id: ++this.asked, question, given, done };
      this.waiting.push(one);
      this.send(one);
      if (this.waiting.length === 1) this.watch();
    });
  }

  send({ id, question, given }) {
    this.worker.postMessage({ id, question, given });
  }

  answered({ id, answer }) {
    if (this.waiting[0]?.id !== id) return;
    this.waiting.shift().done(answer);
    this.watch();
  }

  /** Looks at the clock for the question that is being answered. */
  watch() {
    clearTimeout(this.slow);
    clearTimeout(this.late);
    this.since = performance.now();
    this.busy(false);
    if (!this.running || !this.waiting.length) return;
    this.slow = setTimeout(() => this.busy(true), 700);
    this.late = setTimeout(() => this.stop(`stopped after ${PATIENCE / 1000} seconds: this takes too long to be decided here`), PATIENCE);
  }

  /** Milliseconds that the present question has been asked for; 0 if there is none. */
  get taken() {
    return this.running && this.waiting.length ? performance.now() - this.since : 0;
  }

  stop(error) {
    if (!this.running || !this.waiting.length) return;
    this.worker.terminate();
    this.waiting.shift().done({ error, stopped: true });
    this.begin();
    this.watch();
  }
}
