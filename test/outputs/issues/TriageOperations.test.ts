/**
 * Operations of triage on an issue: planned from the decision, executed once whatever goes wrong, and not on a text that was not
 * triaged.
 */
import { Context, Effect, Layer } from "effect"
import { afterEach, describe, expect, it } from "vitest"
import { resolve } from "../../../src/config/fields/Defaults.ts"
import { layerStatic } from "../../../src/config/snapshots/FileConfigStore.ts"
import { Triage as TriageSettings } from "../../../src/config/schema/Workspaces.ts"
import type { Change } from "../../../src/domain/Change.ts"
import { TargetKey } from "../../../src/domain/Keys.ts"
import type { TriageDecision } from "../../../src/domain/Triage.ts"
import { Forges } from "../../../src/forge/Forges.ts"
import { digestIssue } from "../../../src/forge/IssueHead.ts"
import { Outputs } from "../../../src/outputs/Outputs.ts"
import * as OutputsLayer from "../../../src/outputs/OutputsLayer.ts"
import { triageOperations } from "../../../src/outputs/issues/TriageOperations.ts"
import { Cache } from "../../../src/store/Cache.ts"
import { repoName, startHost, unpaced } from "../../forge/Clients.ts"
import type { Host } from "../../forge/Clients.ts"
import { fault } from "../../harness/FakeForge.ts"
import { isWhole } from "../../harness/Samples.ts"
import { testSnapshot } from "../../harness/TestSnapshot.ts"
import { analysis, input, workspace } from "../Fixtures.ts"
import { AuthorGuess } from "../../../src/outputs/AuthorGuess.ts"
import { inSnapshot } from "../InSnapshot.ts"
import { uncounted } from "../../harness/Owners.ts"
import { verbatimReason } from "../../../src/domain/Reason.ts"
import { memoryObjects } from "../../harness/MemoryObjects.ts"

const spam: TriageDecision = {
  verdict: "close",
  category: "spam",
  reason: verbatimReason("It sells watches to @dana."),
  confidence: 0.9
}
const bug: TriageDecision = {
  verdict: "keep_open",
  category: "bug",
  reason: verbatimReason("It names a crash."),
  confidence: 0.9
}
const issue = { title: "Great offer", body: "Buy cheap watches!" }

type Actions = ReadonlyArray<"close" | "label" | "comment">
const spaceWith = (actions: Actions, dryRun = false) => {
  const space = workspace()
  return { ...space, triage: resolve(TriageSettings, { enabled: true, actions, dry_run: dryRun }) }
}
const tags = (decision: TriageDecision, actions: Actions, dryRun = false) =>
  triageOperations({
    targetKey: TargetKey.make("host:team/shop:issue:7"),
    change: {
      provider: "gitea",
      trigger: "host",
      workspace: "shop",
      repo: { fullName: repoName },
      target: { kind: "issue", number: 7 }
    },
    head: "h",
    workspace: spaceWith(actions, dryRun),
    decision
  }).map(({ operation }) => (operation._tag === "Label" ? `Label ${operation.name}` : operation._tag))

describe("the operations of a decision", () => {
  it.each<readonly [TriageDecision, Actions, boolean, ReadonlyArray<string>]>([
    [spam, ["close"], false, ["IssueComment", "CloseIssue"]],
    [spam, ["close", "label", "comment"], false, ["IssueComment", "Label spam", "CloseIssue"]],
    [spam, ["close", "label", "comment"], true, []],
    [spam, ["label"], false, ["Label spam"]],
    [bug, ["close"], false, []],
    [bug, ["close", "label", "comment"], false, ["IssueComment", "Label bug"]],
    [{ ...bug, category: "unknown" }, ["label"], false, []]
  ])("%j with %j, dry run %j: %j", (decision, actions, dryRun, expected) => {
    expect(tags(decision, actions, dryRun)).toEqual(expected)
  })
})

describe.each(["gitea", "forgejo"] as const)("triage at %s", (kind) => {
  let host: Host | undefined
  afterEach(async () => {
    host?.forge.expectContract()
    await host?.forge.stop()
    host = undefined
  })

  const begin = async (actions: Actions = ["close", "label", "comment"]) => {
    const here = (host = await startHost(kind))
    const { issues } = here.forge.issues(repoName)
    const made = {
      ...issue,
      number: 1001,
      user: here.forge.user("mallory"),
      labels: ["old"],
      assignees: [],
      comments: 0
    }
    issues.push({ ...made, state: "open", texts: [] })
    const [there] = issues
    if (there === undefined) throw new Error("no issue")
    const space = spaceWith(actions)
    const snapshot = { ...testSnapshot({}), triggers: new Map([["host", here.forge.profile()]]) }
    const layer = Layer.provide(OutputsLayer.layer, [
      layerStatic(snapshot),
      Forges.layer,
      Cache.layerNone,
      memoryObjects,
      AuthorGuess.layerNone,
      uncounted
    ])
    const outputs = inSnapshot(Context.get(Effect.runSync(Effect.scoped(Layer.build(layer))), Outputs), snapshot)
    const change: Change = {
      provider: kind,
      trigger: "host",
      workspace: "shop",
      repo: { fullName: repoName },
      target: { kind: "issue", number: 1001 }
    }
    const head = digestIssue(issue)
    const rows = outputs.plan(
      input([], {
        change,
        head,
        workspace: space,
        targetKey: TargetKey.make("k"),
        analysis: analysis([], { triage: spam })
      })
    )
    /** Publishes like the service: a lost response is looked up before anything is sent again. */
    const publish = async () => {
      const ended: Array<string> = []
      for (const row of rows) {
        for (let attempts = 0; ; attempts++) {
          const sent = await Effect.runPromise(
            unpaced(Effect.result(outputs.send(space, change, { ...row, attempts }, undefined)))
          )
          if (sent._tag === "Success") {
            ended.push("sent")
            break
          }
          const reason = sent.failure._tag === "ForgeError" ? sent.failure.reason : "gone"
          if (!["unknown_outcome", "unavailable", "rate_limited"].includes(reason)) {
            ended.push(reason)
            break
          }
          if (
            reason === "unknown_outcome" &&
            (await Effect.runPromise(unpaced(outputs.find(space, change, row)))) !== undefined
          ) {
            ended.push("found")
            break
          }
          expect(attempts).toBeLessThan(5)
        }
      }
      return ended
    }
    return { here, there, publish }
  }

  it("comments the reason, labels and closes", async () => {
    const { publish, there } = await begin()
    expect(await publish()).toEqual(["sent", "sent", "sent"])
    expect({ state: there.state, labels: there.labels, count: there.texts.length }).toEqual({
      state: "closed",
      labels: ["old", "spam"],
      count: 1
    })
    expect(there.texts[0]?.body).toContain("Closed as spam.")
    expect(there.texts[0]?.body).toContain("It sells watches")
    expect(there.texts[0]?.body).not.toContain("@dana")
  })

  const faults = [
    ["lost", fault.lost],
    ["cut", fault.cut],
    ["500", fault.broken],
    ["503", fault.unavailable],
    ["429", fault.tooMany("0")]
  ] as const
  // Each request fails with one of the faults; with AICR_TEST_FAULTS=all with each of them.
  const stride = isWhole("AICR_TEST_FAULTS") ? 1 : faults.length
  it.each(faults)("does each once when %s happens at any request", async (name, thrown) => {
    const begins = 1 + (faults.findIndex(([one]) => one === name) % stride)
    for (let step = begins, last = step; step <= last; step += stride) {
      const { here, publish, there } = await begin()
      let seen = 0
      here.forge.intercept(() => (++seen === step ? thrown : undefined))
      await publish()
      last = seen
      expect([there.state, there.labels, there.texts.length]).toEqual(["closed", ["old", "spam"], 1])
      here.forge.expectContract()
      await here.forge.stop()
      host = undefined
    }
  })

  it("leaves an issue alone whose text was changed since", async () => {
    const { publish, there } = await begin(["close"])
    there.body = "It crashes when I press save."
    expect(await publish()).toEqual(["conflict", "conflict"])
    expect([there.state, there.texts.length]).toEqual(["open", 0])
  })

  it("accepts an issue that another account closed", async () => {
    const { here, publish, there } = await begin(["close"])
    there.state = "closed"
    expect(await publish()).toEqual(["sent", "sent"])
    expect(here.forge.writes().filter(({ method }) => method === "PATCH")).toEqual([])
  })
})
