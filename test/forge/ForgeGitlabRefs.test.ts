/** GitLab computes the difference of a merge request in the background: until then it returns no commits of it. */
import { afterAll, beforeAll, expect, it } from "vitest"
import { fault } from "../harness/FakeForge.ts"
import { failure, run, startHost } from "./Clients.ts"
import type { Host } from "./Clients.ts"

let host: Host
beforeAll(async () => {
  host = await startHost("gitlab")
})
afterAll(async () => {
  host.forge.expectContract()
  await host.forge.stop()
})

const path = /\/merge_requests\/1$/

/** Lets the host return its merge request without the commits of its difference, as right after it was opened. */
const withoutRefs = async () => {
  const { url, token } = host.forge
  const response = await fetch(`${url}/api/v4/projects/team%2Fshop/merge_requests/1`, {
    headers: { "private-token": token }
  })
  const source: unknown = await response.json()
  host.forge.fail(path, fault.answered(200, { ...Object(source), diff_refs: null }))
}

it("reads the commits of the newest version while they are missing", async () => {
  await withoutRefs()
  const { base, head } = host.pull
  expect(await run(host.client.pull(host.repo, 1))).toMatchObject({ base, head })
  const before = host.forge.requests.length
  await run(host.client.pull(host.repo, 1))
  expect(host.forge.requests.length).toBe(before + 1)
})

it.each([
  ["no version", []],
  ["no version of the head", [{ head_commit_sha: "f".repeat(40), base_commit_sha: "e", start_commit_sha: "d" }]]
])("is tried again later with %s yet", async (_, versions) => {
  await withoutRefs()
  host.forge.fail(/\/versions$/, fault.answered(200, versions))
  const error = await failure(host.client.pull(host.repo, 1))
  expect(error.reason).toBe("unavailable")
  expect(error.message).toContain("the host has not computed the difference of !1 yet")
})
