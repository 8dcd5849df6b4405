/** Links to reviews, out of a loaded configuration. */
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { toSnapshot } from "../../src/config/LoadConfig.ts"
import { makeReviewLink, openReviewLink, summaryLink } from "../../src/outputs/ReviewLinks.ts"

const run = "01a20e2f-24ce-7008-a2d4-896ff3ed3817"
const now = 1_800_000_000_000
const key = "k".repeat(32)
const base = "https://aicr.test/tools/shared/"

const load = (links: object, server: object = {}, env: Readonly<Record<string, string>> = {}) =>
  Effect.runSync(
    toSnapshot({ server: { base_url: "https://aicr.test", path_prefix: "/tools", ...server, links } }, env)
  )

const pathOf = (url: string | undefined): string => {
  if (url?.startsWith(base) !== true) throw new Error(`${url} should begin with ${base}`)
  return url.slice(base.length)
}

describe("server.links", () => {
  it.each([
    ["key", { key }, {}],
    ["key_env", { key_env: "KEY" }, { KEY: key }]
  ])("%s signs links", (_, links, env) => {
    const link = makeReviewLink(load(links, {}, env), run, now)
    expect(openReviewLink(load({ key }), pathOf(link?.url), now)).toEqual({ run, expiresAt: link?.expiresAt })
  })

  it("days is how long a link is valid", () => {
    const snapshot = load({ key, days: 3 })
    const link = makeReviewLink(snapshot, run, now)
    const path = pathOf(link?.url)
    expect(link?.expiresAt).toBe(now + 3 * 86_400_000)
    expect(openReviewLink(snapshot, path, now + 3 * 86_400_000 - 1)).toBeDefined()
    expect(openReviewLink(snapshot, path, now + 3 * 86_400_000)).toBeUndefined()
    // A clock that was set back opens it; it never lives longer than its end.
    expect(openReviewLink(snapshot, path, now - 3_600_000)).toBeDefined()
  })

  it("in_summaries decides whether summaries have a link", () => {
    expect(summaryLink(load({ key }), run, now)).toBeUndefined()
    expect(summaryLink(load({ key, in_summaries: true }), run, now)).toContain(base)
  })

  it.each([
    ["without a key", {}],
    ["with a short key", { key: "k".repeat(31) }]
  ])("%s there are no links", (_, links) => {
    expect(makeReviewLink(load(links), run, now)).toBeUndefined()
    expect(openReviewLink(load(links), `${run}/1900000000/x`, now)).toBeUndefined()
  })

  const path = pathOf(makeReviewLink(load({ key }), run, now)?.url)
  const [, expires = "", signature = ""] = path.split("/")
  it.each([
    ["another run", `${run.replace("01a2", "01a3")}/${expires}/${signature}`],
    ["a later end", `${run}/${Number(expires) + 1}/${signature}`],
    ["another spelling of the end", `${run}/0${expires}/${signature}`],
    ["a changed signature", `${run}/${expires}/${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`],
    ["a shorter signature", `${run}/${expires}/${signature.slice(0, -1)}`],
    ["another spelling of the signature", `${run}/${expires}/${signature}=`],
    ["no signature", `${run}/${expires}/`],
    ["more parts", `${path}/x`],
    ["a run in capitals", `${run.toUpperCase()}/${expires}/${signature}`],
    ["nothing", ""]
  ])("a link with %s opens nothing", (_, changed) => {
    expect(openReviewLink(load({ key }), path, now)?.run).toBe(run)
    expect(openReviewLink(load({ key }), changed, now)).toBeUndefined()
  })

  it("a link of another service opens nothing, and neither does one of another key", () => {
    expect(openReviewLink(load({ key }, { base_url: "https://other.test" }), path, now)).toBeUndefined()
    expect(openReviewLink(load({ key: "x".repeat(32) }), path, now)).toBeUndefined()
  })
})
