/**
 * Generated behaviour of a model that reviews one file: per response what it sends. Every report names a fault of its own, so that what
 * became of it can be followed to the findings.
 */
import * as fc from "fast-check"

const reporting = ["accepted", "odd", "refused", "unknown", "repaired"] as const
const others = ["skip", "summary", "read"] as const
const failing = ["prose", "empty", "filtered", "error"] as const

/** A call that a model makes. `refused` ones cannot be understood; `odd` ones deviate, and a person understands them. */
export type Step =
  | { readonly kind: (typeof reporting)[number]; readonly id: number; readonly form: number }
  | { readonly kind: (typeof others)[number] }

export type Turn =
  | { readonly kind: "calls" | "cut"; readonly steps: ReadonlyArray<Step> }
  | { readonly kind: (typeof failing)[number] }

export interface SentCall {
  readonly name: string
  readonly input: unknown
}

export const fault = (id: number): string => `the fault number ${id} of the model`
/** A line of the file for each fault. */
export const lines = Array.from({ length: 30 }, (_, at) => `const value${at} = compute(${at})`)
const lineOf = (id: number): number => (id % lines.length) + 1

const problem = (id: number) => ({
  file: "src/a.ts",
  line: lineOf(id),
  severity: "high",
  category: "correctness",
  message: `${fault(id)}: the value is computed wrongly`,
  quote: lines[lineOf(id) - 1]
})

const without = (id: number, ...names: ReadonlyArray<string>) =>
  Object.fromEntries(Object.entries(problem(id)).filter(([name]) => !names.includes(name)))

/** Deviations that a person understands. */
const oddForms: ReadonlyArray<(id: number) => SentCall> = [
  (id) => ({ name: "report_problem", input: { ...problem(id), message: `${fault(id)} ${"again and ".repeat(900)}` } }),
  (id) => ({ name: "report_problem", input: { ...problem(id), line: `${lineOf(id)}`, end_line: "" } }),
  (id) => ({
    name: "report_problem",
    input: { ...problem(id), line: `${lineOf(id)}-${lineOf(id) + 1}`, side: "RIGHT" }
  }),
  (id) => ({ name: "report_problem", input: { ...problem(id), severity: " HIGH " } }),
  (id) => ({ name: "report_problem", input: { ...problem(id), severity: "Major", confidence: "95%" } }),
  (id) => ({ name: "report_problem", input: { ...problem(id), confidence: 95 } }),
  (id) => ({ name: "report_problem", input: { ...without(id, "message"), title: `${fault(id)} is wrong` } }),
  (id) => ({ name: "report_problem", input: { ...problem(id), message: [`${fault(id)}:`, "it is wrong"] } }),
  (id) => ({ name: "report_problems", input: { problems: JSON.stringify([problem(id)]) } }),
  (id) => ({ name: "report_problems", input: { problems: problem(id) } }),
  (id) => ({ name: "report_problems", input: problem(id) }),
  (id) => ({ name: "report_bug", input: problem(id) })
]

/** Reports that cannot be understood. */
const refusedForms: ReadonlyArray<(id: number) => SentCall> = [
  (id) => ({ name: "report_problem", input: { ...problem(id), severity: "awful" } }),
  (id) => ({ name: "report_problem", input: without(id, "severity") }),
  (id) => ({ name: "report_problem", input: without(id, "file") }),
  (id) => ({ name: "report_problems", input: { problems: [{ ...problem(id), severity: "awful" }] } }),
  (id) => ({ name: "report_problem", input: `{"file": "src/a.ts", "message": "${fault(id)}` }),
  (id) => ({ name: "report_problems", input: { problems: fault(id) } })
]

const unknownForms: ReadonlyArray<(id: number) => SentCall> = [
  (id) => ({ name: "post_comment", input: { text: fault(id) } }),
  (id) => ({ name: "report_bug", input: { description: fault(id) } })
]

const pick = <A>(list: ReadonlyArray<A>, at: number): A => {
  const item = list[at % list.length]
  if (item === undefined) throw new Error("the list is empty")
  return item
}

export const toCall = (step: Step): SentCall => {
  switch (step.kind) {
    case "accepted":
    case "repaired":
      return { name: "report_problem", input: problem(step.id) }
    case "odd":
      return pick(oddForms, step.form)(step.id)
    case "refused":
      return pick(refusedForms, step.form)(step.id)
    case "unknown":
      return pick(unknownForms, step.form)(step.id)
    case "skip":
      return { name: "skip", input: { reason: "only a version bump" } }
    case "summary":
      return { name: "publish_summary", input: { markdown: "Reviewed." } }
    case "read":
      return { name: "fetch_more_context", input: { path: "src/a.ts", reason: "to see" } }
  }
}

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    arbitrary: fc.record({ kind: fc.constantFrom(...reporting), id: fc.constant(0), form: fc.nat(60) }),
    weight: 6
  },
  { arbitrary: fc.record({ kind: fc.constantFrom(...others) }), weight: 4 }
)

const sequence = (minLength: number) => fc.array(step, { minLength, maxLength: 3 })
const turn: fc.Arbitrary<Turn> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant("calls" as const), steps: sequence(1) }), weight: 8 },
  { arbitrary: fc.record({ kind: fc.constant("cut" as const), steps: sequence(0) }), weight: 1 },
  { arbitrary: fc.record({ kind: fc.constantFrom(...failing) }), weight: 2 }
)

/** Gives each report an id of its own, and repairs that of the last refused one. */
const numbered = (turns: ReadonlyArray<Turn>): ReadonlyArray<Turn> => {
  let next = 0
  let last = 0
  const toStep = (one: Step): Step => {
    if (!("id" in one)) return one
    const id = one.kind === "repaired" ? last : ++next
    if (one.kind === "refused" || one.kind === "unknown") last = id
    return { ...one, id }
  }
  return turns.map((one) => ("steps" in one ? { ...one, steps: one.steps.map(toStep) } : one))
}

/** Responses of a model, one after the other. The last one is repeated. */
export const modelTurns: fc.Arbitrary<ReadonlyArray<Turn>> = fc
  .array(turn, { minLength: 1, maxLength: 6 })
  .map(numbered)

/** Responses of a model that finds nothing, with a summary. */
export const cleanTurns: ReadonlyArray<Turn> = [{ kind: "calls", steps: [{ kind: "summary" }] }]

/** Ids of the faults that these steps are about. */
export const faultsIn = (steps: ReadonlyArray<Step>): ReadonlyArray<number> =>
  steps.flatMap((one) => ("id" in one && one.id > 0 ? [one.id] : []))
