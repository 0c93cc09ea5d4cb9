type StopSignal = 'SIGTERM' | 'SIGINT';

/** A terminal and npm both send the SIGINT of one Ctrl-C. */
const REPEAT_MS = 1_000;
const EXIT_CODES = { SIGTERM: 143, SIGINT: 130 };

let first: { readonly signal: StopSignal; readonly at: number } | undefined;
let listener: ((signal: StopSignal) => void) | undefined;

/** Calls it once, with the first signal that asks the process to stop, also when it has come already. */
export function onStopSignal(stop: (signal: StopSignal) => void): void {
  listener = stop;
  if (first !== undefined) {
    stop(first.signal);
  }
}

function receive(signal: StopSignal): void {
  const now = performance.now();
  if (first === undefined) {
    first = { signal, at: now };
    listener?.(signal);
  } else if (now - first.at > REPEAT_MS) {
    process.exit(EXIT_CODES[signal]);
  }
}

// On import, as the kernel drops a signal that process 1 does not listen for.
process.on('SIGTERM', receive).on('SIGINT', receive);
