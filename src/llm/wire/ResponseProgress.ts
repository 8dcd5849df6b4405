/** Whether the response to an agent has begun, and its writer. Once it has, no failure can be repaired by another attempt. */
import type { Failure } from "../calls/Failure.ts"
import { WireText } from "./WireBytes.ts"
import type { WireSink } from "../WireGateway.ts"

export class ResponseProgress {
  readonly #sink: WireSink
  hasBegun = false
  readonly #written = new WireText()

  constructor(sink: WireSink) {
    this.#sink = sink
  }
  /** Harmless if it has begun. */
  begin(contentType: string): void {
    if (this.hasBegun) return
    this.hasBegun = true
    this.#sink.begin(contentType)
  }
  write(bytes: Uint8Array | string): Promise<void> {
    this.#written.add(bytes)
    return this.#sink.write(bytes)
  }
  /** Returns the text that was written, if it is not too long. */
  get text(): string | undefined {
    return this.#written.text
  }
  /** Returns the failure as it applies to the rest of the chain. */
  toFailure(failure: Failure): Failure {
    return this.hasBegun ? { ...failure, repeat: false, next: false, isThrottled: false } : failure
  }
}
