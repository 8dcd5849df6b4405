/**
 * A fault at each step of a review, and at each step of the next one: the checkout, the thread that holds the change, each pass, verification and
 * summary. Success is decided only about lines that completed passes were shown, whatever the coverage of the review claims.
 */
import { Effect, Stream } from "effect"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import { AgentError } from "../../src/agent/Agent.ts"
import type { AgentReport, Brief } from "../../src/agent/Agent.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { verbatimReason } from "../../src/domain/Reason.ts"
import { decideVerdict } from "../../src/domain/Verdict.ts"
import { AnalysisError } from "../../src/engine/AnalysisError.ts"
import { defaultThreads, makeChangeThreads } from "../../src/engine/ChangeThreads.ts"
import type { ChangeThreadsService } from "../../src/engine/ChangeThreads.ts"
import { GatewayError } from "../../src/llm/Gateway.ts"
import { CheckoutError } from "../../src/vcs/Checkout.ts"
import type { Checkout } from "../../src/vcs/Checkout.ts"
import { verdictsOn } from "../harness/FakeModel.ts"
import { makeRepository } from "../vcs/Repository.ts"
import { calling, emptyReport, runEngine } from "./Fixture.ts"

const numRuns = Number(process.env["AICR_TEST_RESPONSES"] ?? 16)

const paths = ["src/auth/login.ts", "src/alpha.ts", "src/beta.ts", "src/gamma.ts"]
const perFile = 300
const repository = makeRepository()
repository.write("AGENTS.md", "Be strict.\n")
const base = repository.commit("base")
for (const [file, path] of paths.entries())
  repository.write(
    path,
    Array.from({ length: perFile }, (_, line) => `export const mark_${file}_${line} = ${line} * 17\n`).join("")
  )
const head = repository.commit("head")
const allMarks = paths.length * perFile

const marksIn = ({ common = "", prompt }: Brief): ReadonlyArray<string> => [
  ...new Set(`${common}\n${prompt}`.match(/mark_\d_\d+(?= = )/g))
]

type Strike = (step: string) => boolean

const why = verbatimReason("fault")
const checkoutFault = new CheckoutError({ reason: "unreachable", why })

/** A checkout whose operations fail where it strikes. Of a diff the beginning arrives. */
const faultyCheckout = (checkout: Checkout, strike: Strike): Checkout => {
  const fails = <A, E, R>(step: string, effect: Effect.Effect<A, E, R>) =>
    Effect.suspend((): Effect.Effect<A, E | CheckoutError, R> => (strike(step) ? Effect.fail(checkoutFault) : effect))
  const { blobs, messages, commits, folders } = checkout
  return {
    ...checkout,
    directory: fails("directory", checkout.directory),
    changes: (max) => fails("changes", checkout.changes(max)),
    sizes: (some) => fails("sizes", checkout.sizes(some)),
    diff: (some, exact) =>
      Stream.suspend(() =>
        strike("diff")
          ? Stream.concat(Stream.take(checkout.diff(some, exact), 1), Stream.fail(checkoutFault))
          : checkout.diff(some, exact)
      ),
    file: (path, at, max) => fails(`file of ${at}`, checkout.file(path, at, max)),
    list: (directory, at, limit) => fails("list", checkout.list(directory, at, limit)),
    ...(folders === undefined
      ? {}
      : { folders: (directory, at, limit) => fails("folders", folders(directory, at, limit)) }),
    blame: (path, start, end) => fails("blame", checkout.blame(path, start, end)),
    ...(messages === undefined ? {} : { messages: fails("messages", messages) }),
    ...(commits === undefined ? {} : { commits: fails("commits", commits) }),
    ...(blobs === undefined
      ? {}
      : {
          blobs: {
            ...blobs,
            find: (some, at) => fails("find", blobs.find(some, at)),
            read: (id, max) => fails("read", blobs.read(id, max))
          }
        }),
    search: {
      filesWith: (search, limit) => fails("search", checkout.search.filesWith(search, limit)),
      filesUnder: (folder, limit) => fails("search", checkout.search.filesUnder(folder, limit))
    }
  }
}

const threads = makeChangeThreads(defaultThreads)
const faultyThreads = (strike: Strike, reason: AnalysisError["reason"]): ChangeThreadsService => ({
  ...threads,
  open: (memoryMb) =>
    Effect.map(threads.open(memoryMb), ({ run }) => ({
      run: (name, ...input) =>
        Effect.suspend(() =>
          strike(`thread ${name}`) ? Effect.fail(new AnalysisError({ reason, why })) : run(name, ...input)
        )
    }))
})

const passFaults = ["throttled", "unreachable", "retryable", "failed", "timeout"] as const
const reportFaults = ["failure", "budget", "output_limit", "unusable"] as const
const gatewayFaults = ["unavailable", "refused", "invalid", "budget", "nonsense", "undecided"] as const

/** A step that fails: the `nth` one of the `kind`th name, each taken modulo their number. */
interface Plan {
  readonly kind: number
  readonly nth: number
  readonly pass: (typeof passFaults)[number] | (typeof reportFaults)[number]
  readonly gateway: (typeof gatewayFaults)[number]
  readonly thread: AnalysisError["reason"]
}

/** Numbers of the steps of a review without faults, by name. */
type Steps = ReadonlyMap<string, number>

const nameOf = ({ kind }: Plan, steps: Steps): string => [...steps.keys()][kind % steps.size] ?? ""

interface Case {
  readonly faults: ReadonlyArray<Plan>
  readonly unread: "neutral" | "fail" | "ignore"
  readonly isLastAttempt: boolean
  /** Whether the model reports a critical problem of the third file. */
  readonly hasProblem: boolean
}

const problem = {
  file: "src/beta.ts",
  severity: "critical",
  category: "security",
  message: "It is wrong.",
  quote: "export const mark_2_7 = 7 * 17"
} as const

const endedPass = (fault: Plan["pass"], report: AgentReport): Effect.Effect<AgentReport, AgentError> => {
  switch (fault) {
    case "failure":
      return Effect.succeed({ ...report, failure: new AgentError({ reason: "failed", why }) })
    case "budget":
      return Effect.succeed({ ...report, stopped: { _tag: "BudgetEndedReview" } })
    case "output_limit":
      return Effect.succeed({ ...report, stopped: { _tag: "BudgetEndedReview" }, isCutOff: true })
    case "unusable":
      return Effect.succeed({ ...report, unusable: [{ reason: "report", count: 1 }] })
    default:
      return Effect.fail(new AgentError({ reason: fault, why }))
  }
}

const review = async (
  { hasProblem, isLastAttempt, unread }: Omit<Case, "faults">,
  plan: Plan | undefined,
  steps: Steps,
  previous: Analysis | undefined
) => {
  const seen = new Map<string, number>()
  const name = plan && nameOf(plan, steps)
  const strike = (step: string): boolean => {
    const count = seen.get(step) ?? 0
    seen.set(step, count + 1)
    return plan !== undefined && step === name && count === plan.nth % (steps.get(step) ?? 1)
  }
  const read = new Set<string>()
  let isReported = false
  const result = await Effect.runPromise(
    Effect.result(
      Effect.tryPromise(() =>
        runEngine({
          repository,
          base,
          head,
          previous,
          isLastAttempt,
          round: {
            number: previous?.round?.number ?? 0,
            reported: previous?.round?.reported ?? [],
            isLifted: false,
            rereads: false
          },
          review: { verification: "always", unread },
          wrap: (checkout) => faultyCheckout(checkout, strike),
          threads: faultyThreads(strike, plan?.thread ?? "crashed"),
          agent: (brief) => {
            const marks = marksIn(brief)
            const reports = hasProblem && marks.includes("mark_2_7")
            isReported ||= reports
            const report = { ...emptyReport, problems: reports ? [problem] : [], summary: "Read." }
            if (strike("pass")) return endedPass(plan?.pass ?? "failed", report)
            for (const mark of marks) read.add(mark)
            return Effect.succeed(report)
          },
          gateway: (request) => {
            const fault = strike("call") ? (plan?.gateway ?? "unavailable") : undefined
            const verdict = fault === "undecided" ? "undecided" : "confirm"
            const verdicts = verdictsOn(JSON.stringify(request.messages), { verdict, reason: "by the code" })
            if (fault === undefined || fault === "undecided")
              return Effect.succeed(
                verdicts === undefined
                  ? calling("summary", { text: "Read." })
                  : calling("verdicts", verdicts.calls[0]?.input)
              )
            if (fault === "nonsense") return Effect.succeed(calling("verdicts", { verdicts: "yes" }))
            return Effect.fail(new GatewayError({ reason: fault, why }))
          }
        })
      )
    )
  )
  return { analysis: result._tag === "Success" ? result.success.analysis : undefined, isReported, read, seen }
}

/** Reads the change, with a fault or without, and again after a review that ended. Success needs all lines, or what `review.unread` permits. */
const tryCase = async ({ faults, ...given }: Case, steps: Steps): Promise<number> => {
  const read = new Set<string>()
  let previous: Analysis | undefined
  let isReported = false
  let successes = 0
  for (const plan of [...faults, undefined]) {
    const one = await review(given, plan, steps, previous)
    // The run of a review that failed ends without success (test/forge/github/CheckRuns.test.ts).
    if (one.analysis === undefined) continue
    previous = one.analysis
    for (const mark of one.read) read.add(mark)
    isReported ||= one.isReported
    const state = decideVerdict(one.analysis, { unread: given.unread, status_fail_on: "high" })
    if (state !== "success") continue
    successes++
    const place = plan === undefined ? "no fault" : `${nameOf(plan, steps)} ${JSON.stringify(plan)}`
    expect([place, isReported]).toEqual([place, false])
    expect([place, read.size >= (given.unread === "ignore" ? 0.9 : 1) * allMarks]).toEqual([place, true])
  }
  return successes
}

const given = { isLastAttempt: true, unread: "neutral", hasProblem: false } as const

it("a fault at any step of a review and of the next one leaves no success without a complete reading", async () => {
  const clean = await review(given, undefined, new Map(), undefined)
  expect(clean.read.size).toBe(allMarks)
  expect(clean.analysis && decideVerdict(clean.analysis, given)).toBe("success")
  const { seen: steps } = await review({ ...given, hasProblem: true }, undefined, new Map(), undefined)
  const names = [...steps.keys()]
  const named = ["changes", "sizes", "diff", "file of rules", "thread planPasses", "thread renderPass", "pass", "call"]
  expect(names).toEqual(expect.arrayContaining(named))
  const none = { kind: 0, nth: 1, pass: "failed", gateway: "unavailable", thread: "crashed" } as const
  const at = (name: string, more: Partial<Plan>): Case => ({
    ...given,
    hasProblem: name === "call",
    faults: [{ ...none, kind: names.indexOf(name), ...more }]
  })
  // Each way in which a pass and a verification end early, and a sample of the others.
  const ends = [
    ...[...passFaults, ...reportFaults].map((pass) => at("pass", { pass })),
    ...gatewayFaults.map((gateway) => at("call", { gateway, nth: 0 }))
  ]
  let successes = 0
  for (const one of ends) successes += await tryCase(one, steps)
  // The next review reads what a pass had not read.
  expect(successes).toBeGreaterThan(0)
  await fc.assert(
    fc.asyncProperty(
      fc.record<Case>({
        faults: fc.array(
          fc.record<Plan>({
            kind: fc.nat(),
            nth: fc.nat(),
            pass: fc.constantFrom(...passFaults, ...reportFaults),
            gateway: fc.constantFrom(...gatewayFaults),
            thread: fc.constantFrom("crashed", "limit")
          }),
          { minLength: 1, maxLength: 2 }
        ),
        unread: fc.constantFrom("neutral", "fail", "ignore"),
        isLastAttempt: fc.boolean(),
        hasProblem: fc.boolean()
      }),
      async (one) => void (await tryCase(one, steps))
    ),
    { numRuns }
  )
}, 600_000)
