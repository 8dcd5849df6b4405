/** The deliveries of the benchmark: GitHub pull request events of 10 KiB, signed. */
import { createHmac } from "node:crypto"
import { Schema } from "effect"
import webhookExamples from "@octokit/webhooks-examples" with { type: "json" }
import { secret } from "./Agreement.ts"

const size = 10 * 1024

const Payload = Schema.Record(Schema.String, Schema.Unknown)
const examples = Schema.decodeUnknownSync(
  Schema.Array(Schema.Struct({ name: Schema.String, examples: Schema.Array(Payload) }))
)

/** GitHub's own example of 23 KB without its repeated parts, and without the installation, which makes bots call the host. */
const template = (): string => {
  const pulls = examples(webhookExamples).find(({ name }) => name === "pull_request")
  const example = pulls?.examples.find(({ action }) => action === "synchronize")
  if (example === undefined) throw new Error("@octokit/webhooks-examples has no pull_request synchronize")
  const { installation: _installation, ...payload } = example
  const repeated = ["repo", "user", "assignees", "requested_reviewers", "_links"]
  return JSON.stringify(payload, function (key, value: unknown) {
    return this !== payload && !("title" in this && key === "user") && repeated.includes(key) ? null : value
  })
}

export interface Delivery {
  readonly body: string
  readonly signature: string
}

/** Deliveries for pull requests `first` and up, each with another head, each of exactly 10 KiB. */
export const deliveries = (count: number, pulls: number, first: number): ReadonlyArray<Delivery> => {
  const text = template()
  return Array.from({ length: count }, (_, index) => {
    const payload: { number: number; padding?: string; pull_request: { number: number; head: { sha: string } } } =
      JSON.parse(text)
    payload.number = payload.pull_request.number = first + (index % pulls)
    payload.pull_request.head.sha = index.toString(16).padStart(40, "a")
    payload.padding = ""
    payload.padding = "x".repeat(Math.max(0, size - Buffer.byteLength(JSON.stringify(payload))))
    const body = JSON.stringify(payload)
    if (Buffer.byteLength(body) !== size) throw new Error(`a delivery of ${Buffer.byteLength(body)} bytes`)
    return { body, signature: createHmac("sha256", secret).update(body).digest("hex") }
  })
}
