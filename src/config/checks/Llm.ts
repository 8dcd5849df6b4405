/** Checks model groups, provider ids and waits. */
import { isRecord, valueAt } from "../document/Path.ts"
import type { Path } from "../document/Path.ts"
import type { Report } from "../document/Normalise.ts"
import type { Check, CrossCheckReports } from "./Check.ts"
import { checkUnique, declared } from "./Names.ts"
import { signInGroups } from "./SignIn.ts"
import { entriesAt, recordAt, recordsAt, textAt } from "./Tree.ts"

export const checkLlm: Check = (tree, reports) => {
  const { error } = reports
  const { chain } = declared(tree)
  checkUnique(recordsAt(tree, "llm", "providers"), "id", error)
  const main = textAt(tree, "llm", "default_model_chain")
  const common = chain.names.size - signInGroups(tree).size
  if (main === undefined && common > 0 && !chain.names.has("default"))
    error({
      path: ["llm", "model_chain"],
      reason: { _tag: "NoDefaultGroup" },
      at: "key"
    })
  checkNative(tree, common, error)
  checkTeams(tree, reports.warning)
  checkBackoff(tree, ["llm", "retry", "backoff"], {}, reports)
  checkBackoff(tree, ["queue", "retry", "backoff"], { base_ms: 5000, max_ms: 60_000 }, reports)
}

/** A budget of a team has an effect on the workspaces of the team. */
const checkTeams = (tree: unknown, warning: Report): void => {
  const teams = new Set(entriesAt(tree, "workspaces", "instances").map(({ value }) => textAt(value, "team")))
  for (const team of Object.keys(recordAt(tree, "llm", "budget", "team_daily_usd")))
    if (!teams.has(team))
      warning({ path: ["llm", "budget", "team_daily_usd", team], reason: { _tag: "BudgetOfNoTeam", team }, at: "key" })
}

/** A review without an agent calls a model directly. */
const checkNative = (tree: unknown, chains: number, error: Report): void => {
  if (chains > 0) return
  const native = entriesAt(tree, "workspaces", "instances").find(({ value }) => {
    const layers = [textAt(value, "agent", "default"), textAt(tree, "workspaces", "defaults", "agent", "default")]
    const mode = layers.find((layer) => layer !== undefined) ?? textAt(tree, "agent", "default")
    return value["enabled"] !== false && mode === "native-llm"
  })
  if (native !== undefined)
    error({
      path: ["llm", "model_chain"],
      reason: { _tag: "NativeNeedsGroup", workspace: native.key },
      at: "key"
    })
}

const checkBackoff = (
  tree: unknown,
  path: Path,
  defaults: { readonly base_ms?: number; readonly max_ms?: number },
  { error }: CrossCheckReports
): void => {
  const backoff = valueAt(tree, path)
  if (!isRecord(backoff)) return
  const { base_ms: base = defaults.base_ms, max_ms: max = defaults.max_ms } = backoff
  if (typeof base !== "number" || typeof max !== "number" || base <= max) return
  const key = backoff["base_ms"] === undefined ? "max_ms" : "base_ms"
  error({ path: [...path, key], reason: { _tag: "BackoffOrder", base, maximum: max }, at: "value" })
}
