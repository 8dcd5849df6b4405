/** Reports fields of `agent` that the configured CLI does not support, before their first review. */
import { agentModelChain } from "../../config/AgentModelChain.ts"
import type { ConfigIssue } from "../../config/ConfigIssue.ts"
import { defaultQueries } from "../../config/schema/Agent.ts"
import type { AgentConfig } from "../../config/schema/Agent.ts"
import type { Snapshot, Workspace } from "../../config/Snapshot.ts"
import { hasFormat } from "../../llm/ProviderFormat.ts"
import type { CliMode } from "./AgentPrograms.ts"
import { planSearch } from "../search/SearchChain.ts"
import type { SearchGap } from "../search/SearchChain.ts"
import { searchIds } from "../search/SearchProviders.ts"
import type { AgentCli } from "./Cli.ts"
import { findCli } from "./CliTable.ts"
import type { Reason } from "../../domain/Reason.ts"

type WebSearchConfig = AgentConfig["web_search"]

interface Unsupported {
  readonly field: string
  readonly reason: Reason
}

const approval = (
  { approval: why }: AgentCli["support"],
  { auto_approve: isOn }: AgentConfig
): ReadonlyArray<Unsupported> =>
  isOn || why === undefined ? [] : [{ field: "auto_approve", reason: { _tag: "FalseWithoutEffect", why } }]

const compaction = (
  { compaction: support = {} }: AgentCli["support"],
  { context_compaction: { auto, prune, threshold_percent: threshold } }: AgentConfig
): ReadonlyArray<Unsupported> => {
  const warn = (isSet: boolean, name: string, why: Reason | undefined): ReadonlyArray<Unsupported> =>
    isSet && why !== undefined ? [{ field: `context_compaction.${name}`, reason: { _tag: "HasNoEffect", why } }] : []
  return [
    ...warn(!auto, "auto", support.auto),
    ...warn(threshold !== undefined, "threshold_percent", support.threshold),
    ...warn(!prune, "prune", support.prune)
  ]
}

/** Whether a field of `web_search` differs from its default. */
const isSet: Readonly<Record<string, (search: WebSearchConfig) => boolean>> = {
  providers: ({ providers }) => providers.length > 0,
  exclude: ({ exclude }) => exclude.length > 0,
  timeout_seconds: ({ timeout_seconds: seconds }) => seconds !== undefined,
  max_queries: ({ max_queries: queries }) => queries !== defaultQueries,
  credentials: ({ credentials }) => Object.keys(credentials).length > 0,
  searxng: ({ searxng }) => Object.values(searxng).some((value) => value !== undefined)
}

const describeGap = (gap: SearchGap): Unsupported => {
  switch (gap._tag) {
    case "Unknown":
      return {
        field: `web_search.${gap.field}`,
        reason: { _tag: "SearchProviderUnknown", id: gap.id, ids: searchIds }
      }
    case "OfOtherModes":
      return {
        field: "web_search.providers",
        reason: { _tag: "SearchOfOtherModes", id: gap.id, ids: gap.reach.ids }
      }
    case "NotFirst":
      return {
        field: "web_search.providers",
        reason: { _tag: "SearchNotFirst", id: gap.id, first: gap.first }
      }
    case "Needs":
      return {
        field: "web_search.providers",
        reason: {
          _tag: "SearchNeeds",
          id: gap.id,
          field: gap.needs === "endpoint" ? "searxng.endpoint" : `credentials.${gap.id}`
        }
      }
    case "SearxngUnused":
      return {
        field: "web_search.searxng",
        reason: { _tag: "HasNoEffect", why: { _tag: "SearxngNotCalled" } }
      }
    case "NoneLeft":
      return { field: "web_search.enabled", reason: { _tag: "NoSearchProviderLeft" } }
  }
}

const webSearch = (
  { webSearch: support }: AgentCli["support"],
  search: WebSearchConfig,
  snapshot: Pick<Snapshot, "credential">
): ReadonlyArray<Unsupported> => {
  if (!search.enabled) return []
  if (support.by === "none")
    return [{ field: "web_search.enabled", reason: { _tag: "HasNoEffect", why: { _tag: "NoSuchTool" } } }]
  return support.by === "model"
    ? Object.entries(isSet).flatMap(([name, differs]): ReadonlyArray<Unsupported> =>
        differs(search)
          ? [{ field: `web_search.${name}`, reason: { _tag: "HasNoEffect", why: { _tag: "NoSuchSetting" } } }]
          : []
      )
    : planSearch(snapshot, search, support.reach).gaps.map(describeGap)
}

/** A search that the provider of the model runs, where no model of the chain has such a provider. */
const unsearchable = (
  mode: CliMode,
  workspace: Pick<Workspace, "agent" | "modelChain">,
  { model_chain: chains, providers }: Snapshot["document"]["llm"]
): ReadonlyArray<Unsupported> => {
  const { format, support } = findCli(mode)
  const { agent } = workspace
  const modelChain = agentModelChain(workspace, mode)
  if (!agent.web_search.enabled || support.webSearch.by !== "model" || modelChain === undefined) return []
  const ids = new Set((chains[modelChain] ?? []).map(({ provider }) => provider))
  return providers.some((config) => ids.has(config.id) && hasFormat(config, format))
    ? []
    : [
        {
          field: "web_search.enabled",
          reason: { _tag: "NoSearchingProvider", chain: modelChain }
        }
      ]
}

/** Returns the fields without effect in this mode. */
const unsupportedFields = (
  mode: CliMode,
  agent: AgentConfig,
  snapshot: Pick<Snapshot, "credential">
): ReadonlyArray<Unsupported> => {
  const { support } = findCli(mode)
  return [...approval(support, agent), ...compaction(support, agent), ...webSearch(support, agent.web_search, snapshot)]
}

/** Fields that only CLIs have, of a workspace without any. Those that the reference calls unused by native-llm are not among them. */
const withoutCli: AgentCli["support"] = {
  compaction: {
    auto: { _tag: "NativeNeverCompacts" },
    threshold: { _tag: "NativeNeverCompacts" },
    prune: { _tag: "NativeNeverCompacts" }
  },
  webSearch: { by: "none" }
}

const unusedFields = (agent: AgentConfig, snapshot: Snapshot): ReadonlyArray<Unsupported> => [
  ...compaction(withoutCli, agent),
  ...webSearch(withoutCli, agent.web_search, snapshot)
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
    const { agent, enabled, id } = workspace
    if (!enabled) return []
    const snapshot = workspace.snapshot()
    const modes = listCliModes(workspace)
    const found =
      modes.length === 0
        ? [["native-llm", unusedFields(agent, snapshot)] as const]
        : modes.map(
            (mode) =>
              [
                mode,
                [...unsupportedFields(mode, agent, snapshot), ...unsearchable(mode, workspace, document.llm)]
              ] as const
          )
    return found.flatMap(([mode, fields]) =>
      fields.map(({ field, reason: why }) => ({
        severity: "warning",
        path: `agent.${field}`,
        reason: { _tag: "AgentFieldUnused", workspace: id, mode, why }
      }))
    )
  })
