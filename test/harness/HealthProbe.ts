/** Requests `/healthz` again and again while a test attacks, and remembers the slowest response. */
import { setTimeout } from "node:timers/promises"

const intervalMillis = 25

export class HealthProbe implements AsyncDisposable {
  readonly #url: string
  readonly #ended: Promise<void>
  #isRunning = true
  /** Milliseconds; infinite once a request failed. */
  slowest = 0
  count = 0

  /** `url`: base URL of the service. */
  constructor(url: string) {
    this.#url = `${url}/healthz`
    this.#ended = this.#run()
  }

  async #run(): Promise<void> {
    while (this.#isRunning) {
      const from = performance.now()
      const isHealthy = await fetch(this.#url, { headers: { connection: "close" } }).then(
        async (response) => {
          await response.text()
          return response.status === 200
        },
        () => false
      )
      this.slowest = Math.max(this.slowest, isHealthy ? performance.now() - from : Infinity)
      this.count++
      await setTimeout(intervalMillis)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isRunning = false
    await this.#ended
  }
}
