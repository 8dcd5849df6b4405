/** Tests that the dismissal of a maintainer counts, whatever the number of others, with a bounded number of requests. */
import { afterEach, describe, expect, it } from "vitest"
import type { Change } from "../../../src/domain/Change.ts"
import { findDismissers } from "../../../src/outputs/review/Dismissal.ts"
import { run, startHost } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { fault } from "../../harness/FakeForge.ts"

let host: Host | undefined
afterEach(async () => {
  host?.forge.expectContract()
  await host?.forge.stop()
  host = undefined
})

const strangers = Array.from({ length: 500 }, (_, n) => `stranger-${n}`)

const decide = async (here: Host, people: ReadonlyArray<string>) => {
  const change: Change = {
    provider: here.forge.kind,
    trigger: "host",
    workspace: "app",
    repo: here.repo,
    target: { kind: "pull_request", number: 1 },
    author: { username: "Team" }
  }
  const before = here.forge.requests.length
  const mayDismiss = await run(findDismissers(here.client, change, "maintainers", people))
  return { who: people.filter(mayDismiss), requests: here.forge.requests.length - before }
}

describe("at GitHub, where everybody may dismiss", () => {
  it.each([0, 20, 500])("a maintainer after %s strangers dismisses", async (count) => {
    const here = await startHost("github")
    host = here
    const { requests, who } = await decide(here, [...strangers.slice(0, count), "Dana", "team"])
    expect(who).toEqual(["Dana"])
    expect(requests).toBeLessThanOrEqual(21)
    expect((await decide(here, [...strangers.slice(0, count), "Dana"])).requests).toBe(0)
  })

  it("strangers do not dismiss, and a list that is refused leaves a bounded number of requests", async () => {
    const here = await startHost("github")
    host = here
    expect((await decide(here, strangers)).who).toEqual([])
    const other = await startHost("github")
    other.forge.fail(/collaborators$/, fault.forbidden)
    const { requests, who } = await decide(other, [...strangers.slice(0, 100), "dana", ...strangers])
    expect([who, requests]).toEqual([["dana"], 201])
    await other.forge.stop()
  })
})

it("at GitLab, a maintainer after 100 people who resolved conversations dismisses", async () => {
  const here = await startHost("gitlab")
  host = here
  expect((await decide(here, [...strangers.slice(0, 100), "dana"])).who).toEqual(["dana"])
})
