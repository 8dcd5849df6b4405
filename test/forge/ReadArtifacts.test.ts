/** SARIF of CI artifacts at every host: only of the reviewed commit, within limits, and what is missing is named. */
import { Effect } from "effect"
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest"
import { readArtifacts } from "../../src/forge/ReadArtifacts.ts"
import { getCi, startStorage } from "../harness/FakeCi.ts"
import type { FakeArtifact, FakeStorage } from "../harness/FakeCi.ts"
import { fault } from "../harness/FakeForge.ts"
import { makeZip } from "../harness/Zip.ts"
import { failure, run, startHost, unpaced } from "./Clients.ts"
import type { Host } from "./Clients.ts"
import { inEnglish } from "../../src/text/en.ts"

const sarif = (text: string) => makeZip([{ name: "out/report.sarif", content: text }])
const other = "f".repeat(40)

const refused = "the host redirects to an address of this machine, its network, or a cloud's metadata"

let storage: FakeStorage
beforeAll(async () => void (storage = await startStorage()))
afterAll(() => storage.close())

describe.each(["github", "gitlab", "gitea"] as const)("CI of %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })
  const start = async (...artifacts: ReadonlyArray<FakeArtifact>) => {
    const here = await startHost(kind)
    host = here
    const fake = getCi(here.pull.repository)
    fake.runs.push({ id: 7, head: here.pull.head, hasEnded: true, artifacts: [...artifacts] })
    const ci = here.client.ci
    if (ci === undefined) throw new Error("the host has no CI")
    const read = async (isWanted: (name: string) => boolean = () => true) => {
      const { items: runs } = await run(ci.runs(here.repo, here.pull.head))
      const reading = readArtifacts(ci, { repo: here.repo, head: here.pull.head, runs }, isWanted)
      const { files, notices } = await Effect.runPromise(unpaced(reading))
      return { files, notices: notices.map(inEnglish) }
    }
    return { ...here, ci, fake, read }
  }

  it("has the artifacts with a wanted name, without the credential at the storage", async () => {
    const { forge, read } = await start(
      { id: 1, name: "sarif", zip: sarif("one") },
      { id: 2, name: "coverage", zip: sarif("two") }
    )
    const seen = storage.requests.length
    const accepted: Array<unknown> = []
    forge.intercept(({ headers, path }) => {
      if (/zip$|\/artifacts$/.test(path)) accepted.push(headers["accept"])
      return undefined
    })
    expect(await read((name) => name === "sarif")).toEqual({ files: ["one"], notices: [] })
    expect(accepted.at(-1)).toBe("*/*")
    const requests = storage.requests.slice(seen)
    expect(requests.map(({ url }) => url)).toEqual(["/blobs/1?sig=s3cret"])
    expect(JSON.stringify(requests[0]?.headers)).not.toContain(forge.token)
  })

  it("shows whether its runs have ended", async () => {
    const { ci, fake, pull, repo } = await start()
    fake.runs.push({ id: 8, head: pull.head, hasEnded: false, artifacts: [] })
    const { items, hasMore } = await run(ci.runs(repo, pull.head))
    expect([items.map(({ hasEnded }) => hasEnded), hasMore]).toEqual([[true, false], false])
  })

  it("leaves out runs and artifacts of other commits", async () => {
    const { ci, fake, pull, read, repo } = await start({ id: 3, name: "forged", zip: sarif("forged"), head: other })
    fake.ignoresHead = true
    fake.runs.push({ id: 9, head: other, hasEnded: true, artifacts: [{ id: 4, name: "old", zip: sarif("old") }] })
    expect(await read()).toEqual({ files: [], notices: [] })
    expect((await run(ci.runs(repo, pull.head))).items).toHaveLength(1)
  })

  it("leaves out expired artifacts", async () => {
    const { read } = await start({ id: 5, name: "sarif", zip: sarif("gone"), expired: true })
    expect(await read()).toEqual({ files: [], notices: [] })
  })

  it("is searched up to a limit where it has 10,000 artifacts", async () => {
    const zip = sarif("x")
    const many = Array.from({ length: 10_000 }, (_, at) => ({ id: at + 100, name: `report-${at}`, zip }))
    const { forge, read } = await start(...many)
    const { files, notices } = await read()
    expect(files).toHaveLength(10)
    expect(notices).toEqual([
      expect.stringMatching(/^A CI run has more artifacts than the first \d+; only these were searched\.$/),
      expect.stringMatching(
        /^\d+ artifacts that match review\.evidence\.ci\.artifacts were not read: at most 10 are\.$/
      )
    ])
    expect(forge.requests.length).toBeLessThan(25)
  })

  it("names artifacts without SARIF, without a zip and with a name that has Markdown", async () => {
    const { read } = await start(
      { id: 11, name: "none", zip: makeZip([{ name: "a.txt", content: "x" }]) },
      { id: 12, name: "broken `@team`\n<b>", zip: Buffer.from("no zip") },
      { id: 13, name: "bomb", zip: makeZip([{ name: "a.sarif", content: Buffer.alloc(9_000_000) }]) }
    )
    expect(await read()).toEqual({
      files: [],
      notices: [
        "The artifact `none` of CI was not read: it has no file .sarif or .sarif.json.",
        "The artifact `broken teamb` of CI was not read: it is not a readable zip.",
        "The artifact `bomb` of CI was not read: a file in it is larger than 8388608 bytes."
      ]
    })
  })

  it.each([
    ["another scheme", "ftp://storage.test/x", "the host redirects to ftp://"],
    ["a password", "http://user:pass@storage.test/x", "the host redirects to a URL with a password"],
    ["the metadata of a cloud", "http://169.254.169.254/latest/meta-data", refused],
    ["the metadata of a cloud, by IPv6", "http://[fd00:ec2::254]/latest/meta-data", refused],
    ["the same, translated", "http://[64:ff9b::a9fe:a9fe]/latest/meta-data", refused],
    ["no URL", "http://", "the host redirects to no URL"]
  ])("is not followed to %s", async (_, location, why) => {
    const { fake, read } = await start({ id: 14, name: "sarif", zip: sarif("x") })
    fake.location = location
    expect((await read()).notices).toEqual([`The artifact \`sarif\` of CI was not read: ${why}.`])
  })

  it("whose storage refuses does not count as a refusal of the host", async () => {
    const { fake, read } = await start({ id: 15, name: "sarif", zip: sarif("x") })
    fake.location = `${storage.url}/blobs/15`
    expect((await read()).notices).toEqual([
      "The artifact `sarif` of CI was not read: the storage that the host names returned 403."
    ])
  })

  it.each([
    ["without the permission", fault.forbidden, "the credential may not read CI"],
    ["that fails", fault.broken, "the host did not return it"],
    ["that limits requests", fault.rateLimited, "the host limits the requests of the credential"]
  ])("%s costs only the evidence", async (_, thrown, why) => {
    const { ci, forge, pull, read, repo } = await start({ id: 16, name: "sarif", zip: sarif("x") })
    forge.fail(kind === "gitlab" ? "/jobs/16/artifacts" : "/zip", thrown)
    const { files, notices } = await read()
    expect(files).toEqual([])
    expect(notices).toEqual([expect.stringContaining(`The artifact \`sarif\` of CI was not read: ${why}`)])
    forge.fail(kind === "gitlab" ? "/pipelines" : "/actions/runs", thrown)
    expect((await failure(ci.runs(repo, pull.head))).operation).toContain("GET ")
  })
})

it("Forgejo has no API for artifacts of CI", async () => {
  const { client, forge } = await startHost("forgejo")
  expect(client.ci).toBeUndefined()
  await forge.stop()
})
