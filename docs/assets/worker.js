// Search takes a dash for "without", and people look for options: --encoding.
const asWords = (data) =>
  typeof data?.data === "string" ? { ...data, data: data.data.replace(/(^|\s)-+(?=\w)/g, "$1") } : data;

// Search runs in a worker, and a page that was opened from a file may start none. There, a hidden frame does its work.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      const inside = frame.contentWindow;
      inside.postMessage = (data) => {
        const event = new MessageEvent("message", { data });
        this.dispatchEvent(event);
        this.onmessage?.(event);
      };
      this.send = (data) => inside.dispatchEvent(new inside.MessageEvent("message", { data }));
      this.ready = new Promise((resolve, reject) => {
        const script = inside.document.createElement("script");
        script.src = address;
        script.onload = resolve;
        script.onerror = reject;
        inside.document.body.append(script);
      });
      this.terminate = () => frame.remove();
    }

    postMessage(data) {
      this.ready = this.ready.then(() => this.send(asWords(data)));
    }
  };
} else {
  window.Worker = class extends window.Worker {
    postMessage(data, ...rest) {
      super.postMessage(asWords(data), ...rest);
    }
  };
}
