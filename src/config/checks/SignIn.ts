/**
 * Checks who uses which model group: a token of a subscription only the agent of its maker, through `agent.auth`; and no
 * mode that of another maker.
 */
import { Document } from "../Document.ts"
import type { Path } from "../document/Path.ts"
import type { LlmProvider } from "../schema/Llm.ts"
import { readShape } from "../fields/Shape.ts"
import type { Check } from "./Check.ts"
import { listReferences } from "./References.ts"
import { entriesAt, recordAt, recordsAt, textAt } from "./Tree.ts"

type Kind = LlmProvider["kind"]

/** Kind of the providers whose subscription a mode may use, per field of `agent.auth`; undefined: none. */
const subscriptions: Readonly<Record<string, Kind | undefined>> = {
  "claude-code": "anthropic",
  codex: "openai_compatible",
  "copilot-cli": undefined,
  "gemini-cli": undefined
}

interface Provider {
  readonly kind: string | undefined
  readonly isSubscription: boolean
}

/** Returns the providers of each group, by id. */
const listGroups = (tree: unknown): ReadonlyMap<string, ReadonlyMap<string, Provider>> => {
  const providers = new Map(
    recordsAt(tree, "llm", "providers").flatMap(({ value }): ReadonlyArray<readonly [string, Provider]> => {
      const id = textAt(value, "id")
      return id === undefined
        ? []
        : [[id, { kind: textAt(value, "kind"), isSubscription: value["subscription"] === true }]]
    })
  )
  return new Map(
    Object.keys(recordAt(tree, "llm", "model_chain")).map((name) => [
      name,
      new Map(
        recordsAt(tree, "llm", "model_chain", name).flatMap(({ value }): ReadonlyArray<readonly [string, Provider]> => {
          const id = textAt(value, "provider") ?? ""
          const provider = providers.get(id)
          return provider === undefined ? [] : [[id, provider]]
        })
      )
    ])
  )
}

/** Returns the names of groups that only `agent.auth` may use. */
export const signInGroups = (tree: unknown): ReadonlySet<string> =>
  new Set(
    [...listGroups(tree)].flatMap(([name, providers]) =>
      [...providers.values()].some(({ isSubscription }) => isSubscription) ? [name] : []
    )
  )

const layers = (tree: unknown): ReadonlyArray<Path> => [
  [],
  ["workspaces", "defaults"],
  ...entriesAt(tree, "workspaces", "instances").map(({ path }) => path)
]

/** Returns the fields that name a group. */
const listUses = (tree: unknown) => listReferences(readShape(Document), tree, "chain")

const isSignIn = (path: Path): boolean => path.at(-3) === "agent" && path.at(-2) === "auth"

export const checkSignIn: Check = (tree, { error }) => {
  const groups = listGroups(tree)
  const reserved = signInGroups(tree)
  for (const { path, value } of listUses(tree)) {
    if (reserved.has(value) && !isSignIn(path))
      error({
        path,
        reason: { _tag: "SubscriptionGroup", group: JSON.stringify(value) },
        at: "value"
      })
  }
  for (const layer of layers(tree)) {
    for (const [mode, own] of Object.entries(subscriptions)) {
      const path = [...layer, "agent", "auth", mode]
      for (const [id, { isSubscription, kind }] of groups.get(textAt(tree, ...path) ?? "") ?? []) {
        if (!isSubscription || kind === own) continue
        error({
          path,
          reason: { _tag: "ForeignSubscription", mode, provider: id },
          at: "value"
        })
      }
    }
  }
}
