/** Notes the inputs of a review while it runs, for its statement: the rules that it reads, and the prompts of its passes. */
import { createHash } from "node:crypto"
import { Effect } from "effect"
import type { Agent } from "../../agent/Agent.ts"
import type { ReviewInputs, RuleDigest } from "../../domain/Analysis.ts"
import { digestNames, digestText } from "../../domain/RuleDigests.ts"
import type { Checkout } from "../../vcs/Checkout.ts"

interface NotedInputs {
  /** The same checkout, of which reads of rules are noted. */
  readonly checkout: Checkout
  /** Returns the same agent, of which prompts are noted. */
  readonly watch: (agent: Agent["Service"]) => Agent["Service"]
  /** Returns what was noted so far. */
  readonly inputs: () => ReviewInputs
}

const sortRules = (rules: ReadonlyMap<string, RuleDigest>): ReadonlyArray<RuleDigest> =>
  [...rules.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1))

/**
 * Returns the inputs of a review that does not read all files again: an earlier one read the others with its own rules, which may have changed since
 * then. The older digest is stated, so that the verdict does not pass for one with the present rules.
 */
export const withCarriedRules = (inputs: ReviewInputs, earlier: ReviewInputs | undefined): ReviewInputs => ({
  ...inputs,
  rules: sortRules(new Map([...inputs.rules, ...(earlier?.rules ?? [])].map((rule) => [rule.name, rule])))
})

export const noteInputs = (checkout: Checkout): NotedInputs => {
  const rules = new Map<string, RuleDigest>()
  const prompts = new Set<string>()
  const note = (name: string, sha256: string | undefined): void =>
    void rules.set(name, sha256 === undefined ? { name } : { name, sha256 })
  /** A list at its limit may be cut. */
  const noteNames = (name: string, names: ReadonlyArray<string>, limit: number): void => {
    if (names.length < limit) note(name, digestNames(names))
  }
  const { folders } = checkout
  return {
    checkout: {
      ...checkout,
      file: (path, at, maxBytes) =>
        Effect.tap(checkout.file(path, at, maxBytes), (text) =>
          Effect.sync(() => {
            if (at === "rules") note(path, text === undefined ? undefined : digestText(text))
          })
        ),
      list: (directory, at, limit) =>
        Effect.tap(checkout.list(directory, at, limit), (names) =>
          Effect.sync(() => {
            if (at === "rules") noteNames(`${directory}/`, names, limit)
          })
        ),
      ...(folders === undefined
        ? {}
        : {
            folders: (directory, at, limit) =>
              Effect.tap(folders(directory, at, limit), (names) =>
                Effect.sync(() => {
                  if (at === "rules") noteNames(`${directory}/*/`, names, limit)
                })
              )
          })
    },
    watch: (agent) => ({
      ...agent,
      analyse: (brief) =>
        Effect.suspend(() => {
          const { advice, common, prompt, system } = brief
          prompts.add(digestText(JSON.stringify([system, common ?? "", prompt, advice ?? ""])))
          return agent.analyse(brief)
        })
    }),
    inputs: () => ({
      mergeBase: checkout.from,
      prompts: createHash("sha256")
        .update([...prompts].toSorted().join("\n"))
        .digest("hex"),
      rules: sortRules(rules)
    })
  }
}
