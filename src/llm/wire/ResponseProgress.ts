/** Whether the response to an agent has begun, and its writer. Once it has, no failure can be repaired by another attempt. */
import type { Failure } from "../Failure.ts"
import type { WireSink } from "../WireGateway.ts"

export class ResponseProgress {
  readonly #sink: WireSink
  hasBegun = false

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
    return this.#sink.write(bytes)
  }
  /** Returns the failure as it applies to the rest of the chain. */
  toFailure(failure: Failure): Failure {
    return this.hasBegun ? { ...failure, repeat: false, next: false, isThrottled: false } : failure
  }
}
