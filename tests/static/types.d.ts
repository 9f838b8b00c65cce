// What scripts share that no module declares: htmx, which a script tag of its own loads, and events.

interface HtmxOptions {
  source?: Element | null;
  target?: string | Element;
  select?: string;
  selectOOB?: string;
  swap?: string;
}

declare const htmx: {
  ajax(verb: string, path: string, options: HtmxOptions): Promise<void>;
};

interface HtmxRequest {
  verb: string;
  path: string;
  elt?: Element;
}

// Of an answer, or of a request without one.
interface HtmxAnswer {
  xhr: XMLHttpRequest;
  target: Element;
  elt: Element;
  requestConfig: HtmxRequest;
}

interface HtmxSwap extends HtmxAnswer {
  pathInfo: { requestPath: string };
  serverResponse: string;
  shouldSwap: boolean;
}

// Also of what htmx does without a request: what is there differs.
type HtmxEvent = CustomEvent<Partial<HtmxAnswer>>;
type HtmxAnswerEvent = CustomEvent<HtmxAnswer>;
type HtmxSwapEvent = CustomEvent<HtmxSwap>;

// A request that changed, as live/pages.py writes it.
interface LiveChange {
  id: string;
  version: number;
  in_queue?: boolean;
}

interface QuotedLine {
  line: number;
  text: string;
}

interface DocumentEventMap {
  "htmx:afterRequest": HtmxAnswerEvent;
  "htmx:afterSettle": HtmxEvent;
  "htmx:afterSwap": HtmxEvent;
  "htmx:beforeOnLoad": HtmxAnswerEvent;
  "htmx:beforeSwap": HtmxSwapEvent;
  "htmx:oobAfterSwap": HtmxEvent;
  "htmx:pushedIntoHistory": HtmxEvent;
  "htmx:responseError": HtmxAnswerEvent;
  "htmx:sendError": HtmxAnswerEvent;
  "htmx:timeout": HtmxAnswerEvent;
  "live:changed": CustomEvent<LiveChange>;
  "quote-line": CustomEvent<QuotedLine>;
}

interface HTMLElementEventMap {
  "htmx:beforeRequest": HtmxAnswerEvent;
}
