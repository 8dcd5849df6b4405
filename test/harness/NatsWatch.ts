/** Reads every message that nodes send over NATS, and remembers the subjects of those with a text that must not be in any. */
import { connect } from "@nats-io/transport-node"
import type { NatsConnection } from "@nats-io/transport-node"

export class NatsWatch implements AsyncDisposable {
  readonly #connection: NatsConnection
  readonly found = new Set<string>()
  messages = 0

  private constructor(connection: NatsConnection, forbidden: RegExp) {
    this.#connection = connection
    void this.#read(forbidden)
  }

  static async start(url: string, forbidden: RegExp): Promise<NatsWatch> {
    return new NatsWatch(await connect({ servers: url, maxReconnectAttempts: -1 }), forbidden)
  }

  async #read(forbidden: RegExp): Promise<void> {
    for await (const { data, subject } of this.#connection.subscribe(">")) {
      this.messages++
      const match = forbidden.exec(Buffer.from(data).toString("latin1"))
      if (match !== null) this.found.add(`${subject}: ${match[0]}`)
    }
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection.close()
  }
}
