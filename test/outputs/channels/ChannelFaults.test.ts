/**
 * Every operation of every channel under every fault, with the service's own publisher: nothing twice, nothing lost, the rest
 * kept. A transient fault leaves no trace; a final one costs its own operation only, and the run reports it.
 */
import { assert, describe, it } from "@effect/vitest"
import { afterAll, beforeAll, vi } from "vitest"
import { Effect, Layer } from "effect"
import type { Fault } from "../../../demo/DemoForge.ts"
import type { Finding } from "../../../src/domain/Problem.ts"
import { fault } from "../../harness/FakeForge.ts"
import { isPairTried, isWhole } from "../../harness/Samples.ts"
import { at, faultWorld } from "../FaultWorld.ts"
import type { Judged, Row } from "../FaultWorld.ts"

const review = { min_severity: "info" } as const
const managed = { labels: ["review"], severity_label_prefix: "sev/" } as const
const webhook = { webhook_url_env: "WEBHOOK" } as const

const rows: Readonly<Record<string, Row>> = {
  gitea_pr_review: { host: "gitea", channel: { kind: "gitea_pr_review", ...review }, target: "pull_request" },
  "gitea_pr_review at Forgejo": {
    host: "forgejo",
    channel: { kind: "gitea_pr_review", ...review },
    target: "pull_request"
  },
  github_pr_review: { host: "github", channel: { kind: "github_pr_review", ...review }, target: "pull_request" },
  gitlab_mr_review: { host: "gitlab", channel: { kind: "gitlab_mr_review", ...review }, target: "pull_request" },
  "commit comments of GitHub": { host: "github", channel: { kind: "github_pr_review" }, target: "push" },
  "commit comments of GitLab": { host: "gitlab", channel: { kind: "gitlab_mr_review" }, target: "push" },
  "gitea_issue on a pull request": { host: "gitea", channel: { kind: "gitea_issue" }, target: "pull_request" },
  "gitea_issue on a push": { host: "forgejo", channel: { kind: "gitea_issue" }, target: "push" },
  "github_issue on a pull request": { host: "github", channel: { kind: "github_issue" }, target: "pull_request" },
  "github_issue on a push": { host: "github", channel: { kind: "github_issue" }, target: "push" },
  gitea_problem_issue: {
    host: "gitea",
    channel: { kind: "gitea_problem_issue", ...managed, notify_feishu: webhook },
    target: "push"
  },
  "gitea_problem_issue at Forgejo": {
    host: "forgejo",
    channel: { kind: "gitea_problem_issue", ...managed, resolved_action: "delete" },
    target: "push"
  },
  github_problem_issue: { host: "github", channel: { kind: "github_problem_issue", ...managed }, target: "push" },
  gitlab_problem_issue: {
    host: "gitlab",
    channel: { kind: "gitlab_problem_issue", ...managed, issue_mode: "consolidated" },
    target: "push"
  },
  feishu_bot: { host: "gitea", channel: { kind: "feishu_bot", ...webhook }, target: "pull_request", chat: true },
  wecom_bot: {
    host: "gitea",
    channel: { kind: "wecom_bot", ...webhook, mentioned_mobile_list: ["13800000000"] },
    target: "pull_request",
    chat: true
  },
  "news of issues in Feishu": {
    host: "gitea",
    channel: { kind: "gitea_problem_issue", ...managed, notify_feishu: webhook },
    target: "push",
    chat: true
  }
}

/** No response arrived, and the platform cannot list its messages: the message is not sent again. */
const unanswered = ["500", "reset before"]

/** Transient faults: no effect is visible afterwards. */
const passing: Readonly<Record<string, Fault>> = {
  "500": fault.broken,
  "503": fault.unavailable,
  "409": fault.conflict,
  "401": fault.unauthorized,
  "429": fault.tooMany("30"),
  "403 rate limit": fault.answered(403, { message: "rate limit" }, { "retry-after": "30" }),
  "reset before": fault.cut,
  "reset after": fault.lost,
  "no answer": fault.hung
}
/** Costs real time, so it strikes at writes only. */
const writesOnly = "no answer"
/** A chat platform has no credential of a trigger, and no conflicts: a refused message is lost. */
const ofHostsOnly = ["401", "409"]
/** Final faults: the operation is lost, and nothing else. */
const final: Readonly<Record<string, Fault>> = {
  "403": fault.forbidden,
  "404": fault.missing,
  "422": fault.invalid
}

/** Problem 1 is gone with the second head, 2 still exists, 3 is new and needs a label that does not exist. */
const first = [at(1, 20), at(2, 29)]
const second = [at(2, 29), at(3, 30, "high")]

/** Long enough that a chat group gets several messages. */
const long = (finding: Finding): Finding => ({
  ...finding,
  problem: { ...finding.problem, message: `${finding.problem.message} ${"and so on ".repeat(700)}` }
})

// Time for all steps of one fault, on a busy machine.
vi.setConfig({ testTimeout: 240_000 })

/** Faults strike at the first of the requests and at one more; with AICR_TEST_FAULTS=all at each of them, which takes minutes. */
const strideOf = (requests: number) => (isWhole("AICR_TEST_FAULTS") ? 1 : Math.ceil(requests / 2))

const countOf = (items: ReadonlyArray<string>, item: string) => items.filter((one) => one === item).length

/** Comments that are missing, and comments that appear twice. */
const compare = (now: ReadonlyArray<string>, wanted: ReadonlyArray<string>) => ({
  missing: wanted.filter((item) => !now.includes(item)),
  twice: now.filter((item) => countOf(now, item) > Math.max(1, countOf(wanted, item)))
})

const reported = (now: ReadonlyArray<string>) => now.filter((item) => /^(line|comment|issue)/.test(item)).join("; ")
const problemIn = (item: string) => new RegExp(`\\b${/^(?:line \d+|issue|comment) (\w+)/.exec(item)?.[1] ?? item}\\b`)

const failedContents = ({ rows: all }: Judged) =>
  all.filter((row) => row.endsWith(" failed") && !/^(Status|Label) /.test(row))

/** Forgejo has the channels of Gitea: with AICR_TEST_FAULTS=all both are tried with all of them. */
const chosen = Object.entries(rows).filter(([name]) => isWhole("AICR_TEST_FAULTS") || !name.endsWith("at Forgejo"))
const faults = [...Object.keys(passing), ...Object.keys(final)]

describe.each(chosen)("%s", (channel, row) => {
  /** Each channel has every fourth fault, and each fault every fourth channel; with AICR_TEST_FAULTS=all each has all. */
  const isTried = (what: string) =>
    isPairTried(
      "AICR_TEST_FAULTS",
      chosen.findIndex(([name]) => name === channel),
      faults.indexOf(what),
      4
    )
  const text = row.chat === true ? long : (finding: Finding) => finding
  /** Both reviews; the fault strikes at request `step` of the second, of all requests or of writes only. */
  const publishBoth = (
    here: Awaited<ReturnType<typeof faultWorld>>,
    thrown: Fault | undefined,
    step: number,
    onlyWrites: boolean
  ) =>
    Effect.gen(function* () {
      const { review: publish, existing } = yield* here.begin
      here.strike(() => undefined)
      yield* publish(first.map(text))
      let seen = 0
      here.strike((writes) => ((!onlyWrites || writes) && ++seen === step ? thrown : undefined))
      const two = yield* publish(second.map(text))
      return { two, now: existing(), seen }
    })

  // The host and the results without a fault are the same for all faults.
  let here: Awaited<ReturnType<typeof faultWorld>>
  let withoutFault: Effect.Success<ReturnType<typeof publishBoth>> | undefined
  beforeAll(async () => void (here = await faultWorld(row)))
  afterAll(async () => {
    here.host.forge.expectContract()
    await here.stop()
  })

  const eachStep = <E, R>(
    test: (
      run: (thrown: Fault | undefined, step: number, onlyWrites: boolean) => ReturnType<typeof publishBoth>,
      complete: Effect.Success<ReturnType<typeof publishBoth>>
    ) => Effect.Effect<void, E, R>
  ) =>
    Effect.gen(function* () {
      const complete = (withoutFault ??= yield* publishBoth(here, undefined, 0, false))
      assert.strictEqual(complete.two.run.status, "succeeded")
      assert.isFalse(complete.two.run.partial)
      yield* test((thrown, step, onlyWrites) => publishBoth(here, thrown, step, onlyWrites), complete)
    }).pipe(
      Effect.provide(Layer.suspend(() => here.world))
      // The clock of each test starts again.
    )

  for (const [what, thrown] of Object.entries(passing)) {
    if ((row.chat && ofHostsOnly.includes(what)) || !isTried(what)) continue
    it.effect(`${what}: ends as if nothing had been`, () =>
      eachStep((run, complete) =>
        Effect.gen(function* () {
          for (let step = 1, last = step; step <= last; step += strideOf(last)) {
            const { now, seen, two } = yield* run(thrown, step, what === writesOnly)
            last = seen
            const message = `${what} at request ${step}: ${two.rows.join(", ")}; ${now.join("; ")}`
            const { missing, twice } = compare(now, complete.now)
            assert.deepStrictEqual(twice, [], message)
            if (row.chat && unanswered.includes(what)) assert.isAtMost(missing.length, 1, message)
            else assert.deepStrictEqual(now, complete.now, message)
            assert.strictEqual(two.run.status, "succeeded")
            assert.isFalse(two.run.partial)
          }
        })
      )
    )
  }

  for (const [what, thrown] of Object.entries(final)) {
    if (!isTried(what)) continue
    it.effect(`${what}: costs one operation, and the run says so`, () =>
      eachStep((run, complete) =>
        Effect.gen(function* () {
          for (let step = 1, last = step; step <= last; step += strideOf(last)) {
            const { now, seen, two } = yield* run(thrown, step, true)
            last = seen
            const message = `${what} at write ${step}: ${two.rows.join(", ")}; ${now.join("; ")}`
            const { missing, twice } = compare(now, complete.now)
            assert.deepStrictEqual(twice, [], message)
            assert.isFalse(
              two.rows.some((one) => /(pending|sending|unknown)$/.test(one)),
              message
            )
            const failed = failedContents(two)
            assert.isAtMost(failed.length, 1, message)
            if (failed.length === 1) {
              assert.isTrue(two.run.partial, message)
              assert.include(two.run.reason ?? "", what, message)
            } else {
              assert.strictEqual(two.run.status, "succeeded", message)
            }
            if (two.rows.every((one) => one.endsWith(" sent"))) {
              // Written elsewhere, such as a comment moved from its line to the summary: its problem is still there.
              for (const item of row.chat ? [] : missing) assert.match(reported(now), problemIn(item), message)
            }
          }
        })
      )
    )
  }
})
