/**
 * Keeps responses to requests that are repeated at intervals, with their ETag, so that a host that has ETags sends a response again only if it
 * differs. GitHub does not count the others against its limits.
 */
import type { HostResponse } from "../HostResponse.ts"

/** Characters of all bodies together; the response that was used least recently is dropped first. */
const maxCharacters = 8 * 1024 * 1024

export class PolledResponses {
  readonly #kept = new Map<string, HostResponse>()
  #characters = 0

  /** Returns the headers that make a request conditional. */
  conditions(url: string): Readonly<Record<string, string>> {
    const etag = this.#kept.get(url)?.headers["etag"]
    return etag === undefined ? {} : { "if-none-match": etag }
  }

  /** Returns the response that the host sent, or the kept one if it has not changed. */
  resolve(url: string, response: HostResponse): HostResponse {
    const kept = this.#kept.get(url)
    if (kept !== undefined) {
      this.#kept.delete(url)
      this.#characters -= kept.body.length
    }
    const isSame = response.status === 304 && kept !== undefined
    const resolved = isSame ? { ...kept, headers: { ...kept.headers, ...response.headers } } : response
    if (resolved.status === 200 && resolved.headers["etag"] !== undefined) this.#keep(url, resolved)
    return resolved
  }

  #keep(url: string, response: HostResponse): void {
    this.#kept.set(url, response)
    this.#characters += response.body.length
    for (const [oldest, { body }] of this.#kept) {
      if (this.#characters <= maxCharacters) return
      this.#kept.delete(oldest)
      this.#characters -= body.length
    }
  }
}
