/** The last part of stderr, without the report of `Inside.ts`, which is part of the same stream. */
import type { JobReport } from "../inside/Job.ts"

const maxChars = 16_384
const maxReport = 4096
const maxCode = 255

export class StderrTail {
  readonly #nonce: string
  #text = ""

  constructor(nonce: string) {
    this.#nonce = nonce
  }

  add(chunk: Buffer): void {
    this.#text = (this.#text + chunk.toString("utf8")).slice(-(maxChars + maxReport))
  }

  text(): string {
    const at = this.#text.lastIndexOf(this.#nonce)
    return (at < 0 ? this.#text : this.#text.slice(0, Math.max(0, at - 1))).slice(-maxChars)
  }

  /** Returns the report, or undefined if `Inside.ts` was ended before it could write one. */
  report(): JobReport | undefined {
    const at = this.#text.lastIndexOf(this.#nonce)
    if (at < 0) return undefined
    const [line = ""] = this.#text.slice(at + this.#nonce.length).split("\n", 1)
    try {
      return toReport(JSON.parse(line))
    } catch {
      // The report was cut.
      return undefined
    }
  }
}

/** A program that runs as the same user may learn the nonce, so the report is not trusted to be one. */
const toReport = (value: unknown): JobReport | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  const { code, failure, limit }: { readonly [name in keyof JobReport]?: unknown } = value
  if (limit === "memory" || limit === "processes") return { limit }
  if (typeof code === "number" && Number.isInteger(code) && code >= 0 && code <= maxCode) return { code }
  return typeof failure === "string" ? { failure } : undefined
}
