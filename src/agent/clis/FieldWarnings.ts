/** Reports fields of `agent` that the configured CLI does not support, before their first review. */
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import type { AgentConfig } from "../../config/schema/Agent.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import { hasFormat } from "../../llm/wire/ProviderFormat.ts"
import type { CliMode } from "../AgentPrograms.ts"
import type { AgentCli, WebSearchField } from "./Cli.ts"
import { findCli } from "./CliTable.ts"

interface Unsupported {
  readonly field: string
  readonly reason: string
}

const approval = ({ approval: reason }: AgentCli["support"], { auto_approve: isOn }: AgentConfig) =>
  isOn || reason === undefined ? [] : [{ field: "auto_approve", reason: `false has no effect: ${reason}` }]

const compaction = (
  { compaction: support = {} }: AgentCli["support"],
  { context_compaction: { auto, prune, threshold_percent: threshold } }: AgentConfig
): ReadonlyArray<Unsupported> => {
  const warn = (isSet: boolean, name: string, reason: string | undefined) =>
    isSet && reason !== undefined ? [{ field: `context_compaction.${name}`, reason: `has no effect: ${reason}` }] : []
  return [
    ...warn(!auto, "auto", support.auto),
    ...warn(threshold !== undefined, "threshold_percent", support.threshold),
    ...warn(!prune, "prune", support.prune)
  ]
}

const isSet: Record<WebSearchField, (search: AgentConfig["web_search"]) => boolean> = {
  providers: ({ providers }) => providers.length > 0,
  exclude: ({ exclude }) => exclude.length > 0,
  timeout_seconds: ({ timeout_seconds: seconds }) => seconds !== undefined,
  credentials: ({ credentials }) => Object.keys(credentials).length > 0,
  searxng: ({ searxng }) => Object.values(searxng).some((value) => value !== undefined)
}
const searchFields: ReadonlyArray<WebSearchField> = [
  "providers",
  "exclude",
  "timeout_seconds",
  "credentials",
  "searxng"
]

const webSearch = (
  { webSearch: support }: AgentCli["support"],
  { sandbox, web_search: search }: Pick<AgentConfig, "sandbox" | "web_search">
): ReadonlyArray<Unsupported> => {
  if (!search.enabled) return []
  if (support.by === "none") return [{ field: "web_search.enabled", reason: "has no effect: it has no such tool" }]
  const fields = searchFields
    .filter((field) => isSet[field](search) && !support.fields.has(field))
    .map((field) => ({ field: `web_search.${field}`, reason: "has no effect: it has no such setting" }))
  return support.by === "model" || sandbox.native.unconfined
    ? fields
    : [
        {
          field: "web_search.enabled",
          reason: "finds nothing: this CLI searches by itself, and its sandbox has no network"
        },
        ...fields
      ]
}

/** A search that the provider of the model runs, where no model of the chain has such a provider. */
const unsearchable = (
  mode: CliMode,
  { agent, modelChain }: Pick<Workspace, "agent" | "modelChain">,
  { model_chain: chains, providers }: Snapshot["document"]["llm"]
): ReadonlyArray<Unsupported> => {
  const { format, support } = findCli(mode)
  if (!agent.web_search.enabled || support.webSearch.by !== "model" || modelChain === undefined) return []
  const ids = new Set((chains[modelChain] ?? []).map(({ provider }) => provider))
  return providers.some((config) => ids.has(config.id) && hasFormat(config, format))
    ? []
    : [
        {
          field: "web_search.enabled",
          reason: `finds nothing: the provider of the model has to search, and no provider of llm.model_chain.${modelChain} has the API of this CLI`
        }
      ]
}

/** Returns the fields without effect in this mode. */
export const unsupportedFields = (mode: CliMode, agent: AgentConfig): ReadonlyArray<Unsupported> => {
  const { support } = findCli(mode)
  return [...approval(support, agent), ...compaction(support, agent), ...webSearch(support, agent)]
}

/** Fields that only CLIs have, of a workspace without any. Those that the reference calls unused by native-llm are not among them. */
const withoutCli: AgentCli["support"] = {
  compaction: {
    auto: "native-llm does not compact",
    threshold: "native-llm does not compact",
    prune: "native-llm does not compact"
  },
  webSearch: { by: "none" }
}

const unusedFields = (agent: AgentConfig): ReadonlyArray<Unsupported> => [
  ...compaction(withoutCli, agent),
  ...webSearch(withoutCli, agent)
]

/** Modes of a workspace: its own, and those of its routes. */
export const listCliModes = ({ agent, outputs }: Workspace): ReadonlyArray<CliMode> => {
  const modes = [agent.default, ...outputs.routes.rules.map(({ analysis }) => analysis.agent)]
  return [...new Set(modes)].filter((mode) => mode !== undefined && mode !== "native-llm")
}

export const agentProblems = ({
  document,
  workspaces
}: Pick<Snapshot, "document" | "workspaces">): ReadonlyArray<ConfigIssue> =>
  [...workspaces.values()].flatMap((workspace): ReadonlyArray<ConfigIssue> => {
    const { enabled, id, sandbox } = workspace
    if (!enabled) return []
    const agent = { ...workspace.agent, sandbox }
    const modes = listCliModes(workspace)
    const found =
      modes.length === 0
        ? [["native-llm", unusedFields(agent)] as const]
        : modes.map(
            (mode) =>
              [mode, [...unsupportedFields(mode, agent), ...unsearchable(mode, workspace, document.llm)]] as const
          )
    return found.flatMap(([mode, fields]) =>
      fields.map(({ field, reason }) => ({
        severity: "warning",
        path: `agent.${field}`,
        message: `workspace ${id}, agent mode ${mode}: ${reason}`
      }))
    )
  })
