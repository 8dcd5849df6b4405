/** The verdict of an app at GitHub: one check that is not completed, a new one after a completed one, and a status without the permission. */
import { generateKeyPairSync } from "node:crypto"
import { Effect, Redacted } from "effect"
import * as fc from "fast-check"
import { afterEach, describe, expect, it } from "vitest"
import { hasUnreadText, isMostlyRead, SkipReason } from "../../../src/domain/Coverage.ts"
import { endStatus } from "../../../src/domain/HeadVerdict.ts"
import { StatusState } from "../../../src/domain/Publication.ts"
import type { Reason } from "../../../src/domain/Reason.ts"
import { RunStatus } from "../../../src/domain/Run.ts"
import { decideVerdict } from "../../../src/domain/Verdict.ts"
import type { HostStatus } from "../../../src/forge/Forge.ts"
import { githubClient } from "../../../src/forge/github/Client.ts"
import { conclusions, parseHostIds, selectCheck } from "../../../src/forge/github/CheckRuns.ts"
import type { HostWrite } from "../../../src/forge/HostWrite.ts"
import { WrittenStatus } from "../../../src/forge/WriteOwner.ts"
import type { WrittenRecords } from "../../../src/forge/WriteOwner.ts"
import { getChecks, grantChecks } from "../../harness/FakeChecks.ts"
import { fault } from "../../harness/FakeForge.ts"
import { repoName, run, startHost } from "../Clients.ts"
import type { Host } from "../Clients.ts"
import { newTraffic } from "../../harness/Owners.ts"

const key = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey.export({ type: "pkcs8", format: "pem" })

describe("githubVerdict", () => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  const start = async (isGranted = true) => {
    const here = await startHost("github")
    host = here
    here.forge.renameSelf("aicr[bot]")
    grantChecks(here.forge, isGranted)
    const { settings, ...profile } = here.forge.profile()
    const app = { app_id: 12345, private_key: Redacted.make(key.toString()) }
    const client = githubClient({ ...profile, token: undefined, settings: { ...settings, app } }, newTraffic())
    const { head } = here.pull
    const write = (status: Partial<HostStatus>, records?: WrittenRecords): Promise<HostWrite> => {
      const whole: HostStatus = {
        state: "pending",
        description: "Review in progress",
        url: undefined,
        key: "op",
        number: 1,
        ...status
      }
      return run(client.setStatus(here.repo, head, whole).pipe(Effect.provideService(WrittenStatus, records)))
    }
    return { here, client, write, checks: getChecks(here.pull.repository) }
  }
  const recorded = (...hostIds: ReadonlyArray<string>): WrittenRecords => ({ hostIds, isCertain: true })
  const show = (checks: ReturnType<typeof getChecks>) =>
    checks.map(({ conclusion, isReopened, status }) => `${conclusion ?? status}${isReopened ? " reopened" : ""}`)
  const requests = ({ forge }: Host) =>
    forge.requests.filter(({ path }) => path.includes("check-runs")).map(({ method }) => method)

  it("creates a check and completes it with two requests, with its coverage and its remarks", async () => {
    const { checks, here, write } = await start()
    const begun = await write({}, recorded())
    expect(show(checks)).toEqual(["in_progress"])
    const annotations = [
      { path: "a.ts", start: 1, end: 2, severity: "low" as const, title: "Title", message: "Message" }
    ]
    await write(
      { state: "failure", description: "1 low", key: "end", details: { text: "Coverage", annotations } },
      recorded(begun.hostId)
    )
    expect(show(checks)).toEqual(["failure"])
    expect(checks[0]).toMatchObject({
      name: "aicr/review",
      externalId: "1:end",
      output: {
        title: "1 low",
        summary: "Coverage",
        annotations: [
          { path: "a.ts", start_line: 1, end_line: 2, annotation_level: "notice", title: "Title", message: "Message" }
        ]
      }
    })
    expect(requests(here)).toEqual(["POST", "PATCH"])
  })

  it("follows a completed check by a new one", async () => {
    const { checks, write } = await start()
    const ended = await write({ state: "success" }, recorded())
    await write({ state: "neutral" }, recorded(ended.hostId))
    expect(show(checks)).toEqual(["success", "action_required"])
  })

  it("finds the check of a write that is not recorded, whatever it did, and reads no check in other cases", async () => {
    const { checks, here, write } = await start()
    const uncertain = { hostIds: [], isCertain: false }
    await write({}, recorded())
    // The response was lost: the repeated write finds the check.
    await write({}, uncertain)
    expect(show(checks)).toEqual(["in_progress"])
    await write({ state: "success", key: "end" }, uncertain)
    await write({ state: "success", key: "end" }, uncertain)
    expect(show(checks)).toEqual(["success"])
    // The records demand another state since then.
    await write({ state: "failure", key: "end" }, uncertain)
    expect(show(checks)).toEqual(["success", "failure"])
    expect(requests(here).filter((method) => method === "GET")).toHaveLength(4)
  })

  it("completes a check that another one replaced", async () => {
    const { checks, write } = await start()
    await write({}, recorded())
    await write({ state: "success" }, recorded())
    expect(show(checks)).toEqual(["in_progress", "success"])
    await write({ state: "failure", key: "later" })
    expect(show(checks)).toEqual(["cancelled", "success", "failure"])
  })

  it("writes the verdict without its remarks where the host refuses them (422), and again where the check is gone (404)", async () => {
    const { checks, here, write } = await start()
    here.forge.fail("POST /repos/team/shop/check-runs", fault.invalid)
    const annotations = [{ path: "none.ts", start: 1, end: 1, severity: "high" as const, title: "", message: "m" }]
    await write({ state: "failure", details: { text: "Coverage", annotations } }, recorded())
    expect(checks).toMatchObject([{ conclusion: "failure", output: { summary: "Review in progress" } }])
    await write({ state: "success" }, recorded("987654:in_progress"))
    expect(show(checks)).toEqual(["failure", "success"])
  })

  it("writes a status, with the reason, while the app may not write checks", async () => {
    const { checks, client, here, write } = await start(false)
    const { statuses } = here.forge.repository(repoName)
    expect(await write({ state: "neutral" }, recorded())).toMatchObject({ note: { _tag: "CheckRefused" } })
    expect(statuses.get(here.pull.head)).toMatchObject([{ context: "aicr/review", state: "error" }])
    expect(requests(here)).toEqual([])
    expect(await run(client.changes.ownStatus(here.repo, here.pull.head))).toMatchObject({ state: "neutral" })
    expect(checks).toEqual([])
  })

  it("writes a status after the permission was withdrawn", async () => {
    const { here, write } = await start()
    await write({ state: "success" }, recorded())
    grantChecks(here.forge, false)
    expect(await write({ state: "failure" }, recorded())).toMatchObject({ note: { _tag: "CheckRefused" } })
    expect(here.forge.repository(repoName).statuses.get(here.pull.head)).toMatchObject([{ state: "failure" }])
  })

  it("reads its own check as the status of a commit", async () => {
    const { client, here, write } = await start()
    const own = () => run(client.changes.ownStatus(here.repo, here.pull.head))
    expect(await own()).toBeUndefined()
    const { hostId } = await write({}, recorded())
    expect(await own()).toMatchObject({ state: "pending" })
    await write({ state: "neutral" }, recorded(hostId))
    expect(await own()).toMatchObject({ state: "neutral" })
  })

  const passing = new Set(["success", "neutral", "skipped"])
  it("passes a required check with a success only", () => {
    expect(StatusState.literals.filter((state) => passing.has(conclusions[state]))).toEqual(["success"])
  })

  it("never passes a required check without a complete reading, unless review.unread is ignore", () => {
    const skipped = fc.record({
      path: fc.constantFrom("a.ts", "b.ts"),
      reason: fc.constantFrom(...SkipReason.literals),
      unread: fc.option(fc.boolean(), { nil: undefined })
    })
    const coverage = fc.record({
      reviewed: fc.array(fc.constantFrom("c.ts", "d.ts"), { maxLength: 2 }),
      skipped: fc.array(skipped, { maxLength: 3 }),
      lines: fc.integer({ min: 0, max: 20 }),
      changed: fc.option(fc.integer({ min: 0, max: 20 }), { nil: undefined }),
      unusable: fc.option(fc.constant([{ reason: "report" as const, count: 1 }]), { nil: undefined })
    })
    const unread = fc.constantFrom("neutral" as const, "fail" as const, "ignore" as const)
    fc.assert(
      fc.property(coverage, unread, (read, setting) => {
        const state = decideVerdict({ findings: [], coverage: read }, { unread: setting })
        if (!passing.has(conclusions[state])) return
        expect(isMostlyRead(read)).toBe(true)
        expect(setting === "ignore" || !hasUnreadText(read)).toBe(true)
      }),
      { numRuns: 2000 }
    )
    // However a run ends without a review.
    const reasons: ReadonlyArray<Reason | undefined> = [
      undefined,
      { _tag: "PullRequestClosed" },
      { _tag: "MergeGroupEnded" },
      { _tag: "SupersededRun" }
    ]
    for (const status of RunStatus.literals)
      for (const reason of reasons) expect(passing.has(conclusions[endStatus(status, reason).state])).toBe(false)
  })

  it("the records show which check is not completed, in any order, and a status is none", () => {
    const ids = ["7:in_progress", "9:in_progress", "7:completed", "123"]
    for (const order of [ids, ids.toReversed()])
      expect(parseHostIds(order).toSorted((a, b) => a.id - b.id)).toEqual([
        { id: 7, isOpen: false, isSame: false },
        { id: 9, isOpen: true, isSame: false }
      ])
  })

  it("updates the newest check only", () => {
    const check = (id: number, isOpen: boolean, isSame = false) => ({ id, isOpen, isSame })
    expect(selectCheck([])).toEqual({ target: undefined, stale: [] })
    expect(selectCheck([check(1, false), check(2, true)])).toEqual({ target: 2, stale: [] })
    expect(selectCheck([check(3, false), check(2, true), check(1, true)])).toEqual({ target: undefined, stale: [2, 1] })
    expect(selectCheck([check(3, false, true), check(2, true)])).toEqual({ target: 3, stale: [2] })
  })
})
