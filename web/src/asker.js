// The worker, from the page's side: it answers one question after the other. One that takes too long
// is stopped by ending the worker; another goes on with what waits.

export class Asker {
  /** `patience` are milliseconds without a word of an answer, once Python is there. `busy(is)` is told
   * when an answer takes a while, and when it is over. A worker that is `idle` begins with a question. */
  constructor(url, { patience, busy = () => {}, idle = false }) {
    Object.assign(this, { url, patience, busy, idle, waiting: [], asked: 0 });
    if (!idle) this.begin();
  }

  begin() {
    this.running = false;
    this.worker = new Worker(this.url, { type: "module" });
    this.worker.onmessage = ({ data }) => {
      if (data.started) this.started(data.started);
      else if (data.news) this.heard(data);
      else this.answered(data);
    };
    this.worker.onerror = ({ message }) => this.answered({ id: this.waiting[0]?.id, answer: { error: `the playground could not be loaded: ${message}` } });
    for (const one of this.waiting) this.send(one);
  }

  started(how) {
    document.documentElement.dataset.started = how;
    this.running = true;
    this.watch();
  }

  /** The answer, or {error, stopped: true}; `hear` gets what there is to say before. */
  ask(question, given, hear) {
    return new Promise((done) => {
      const one = { id: ++this.asked, question, given, done, hear };
      this.waiting.push(one);
      if (this.worker) this.send(one);
      else this.begin();
      if (this.waiting.length === 1) this.watch();
    });
  }

  send({ id, question, given }) {
    this.worker.postMessage({ id, question, given });
  }

  heard({ id, news }) {
    if (this.waiting[0]?.id !== id) return;
    this.waiting[0].hear(news);
    this.watch();
  }

  answered({ id, answer }) {
    if (this.waiting[0]?.id !== id) return;
    this.waiting.shift().done(answer);
    if (answer.broken) this.beginAnew();
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
    this.late = setTimeout(() => this.stop(`stopped after ${this.patience / 1000} seconds: this takes too long to be decided here`), this.patience);
  }

  /** Milliseconds that the present question has been asked for; 0 if there is none. */
  get taken() {
    return this.running && this.waiting.length ? performance.now() - this.since : 0;
  }

  stop(error) {
    if (!this.waiting.length || (!this.running && !this.idle)) return;
    this.waiting.shift().done({ error, stopped: true });
    this.beginAnew();
    this.watch();
  }

  /** Another worker goes on with what waits. */
  beginAnew() {
    this.worker.terminate();
    this.worker = null;
    if (!this.idle || this.waiting.length) this.begin();
  }
}
