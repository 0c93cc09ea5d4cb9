type StopSignal = 'SIGTERM' | 'SIGINT';

/** A signal within this time of the first is ignored, because a terminal and npm both send SIGINT for a single Ctrl-C. */
const DUPLICATE_SIGNAL_MS = 1_000;
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130 };

let first: { readonly signal: StopSignal; readonly at: number } | undefined;
let listener: ((signal: StopSignal) => void) | undefined;

/** Calls `stop` once, on the first stop signal, even if it has already arrived. */
export function onStopSignal(stop: (signal: StopSignal) => void): void {
  listener = stop;
  if (first !== undefined) {
    stop(first.signal);
  }
}

function onSignal(signal: StopSignal): void {
  const now = performance.now();
  if (first === undefined) {
    first = { signal, at: now };
    listener?.(signal);
  } else if (now - first.at > DUPLICATE_SIGNAL_MS) {
    process.exit(EXIT_CODES[signal]);
  }
}

// This runs on import, because the kernel drops signals that process 1 has no handler for.
process.on('SIGTERM', onSignal).on('SIGINT', onSignal);
