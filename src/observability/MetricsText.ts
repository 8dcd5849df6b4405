/**
 * Renders all metrics for Prometheus. Metrics of Effect's cluster have no help and names of their own; they get both here. A family without
 * help is not rendered, so that every rendered one has it.
 */
import type { Context } from "effect"
import { PrometheusMetrics } from "effect/observability"

/**
 * Names and help of the cluster's metrics. Two are not rendered: the mailbox of each actor, whose labels contain names of repositories, and the
 * release duration, which is in milliseconds.
 */
const clusterMetrics: Readonly<Record<string, { readonly name: string; readonly help: string }>> = {
  effect_cluster_entities: { name: "aicr_actors", help: "Active actors of this node, by actor" },
  effect_cluster_entity_mailbox_size_max: {
    name: "aicr_actor_mailbox_max_messages",
    help: "Waiting messages of the fullest mailbox, by actor"
  },
  effect_cluster_singletons: { name: "aicr_singletons", help: "Actors on this node that exist once in the cluster" },
  effect_cluster_runners: { name: "aicr_runners", help: "Nodes that run actors" },
  effect_cluster_runners_healthy: { name: "aicr_runners_healthy", help: "Nodes that run actors and respond" },
  effect_cluster_shards: { name: "aicr_shards", help: "Shards of actors that this node holds" },
  effect_cluster_shards_releasing: { name: "aicr_shards_releasing", help: "Shards that this node hands over" }
}

const helpByName = new Map(Object.values(clusterMetrics).map(({ help, name }) => [name, help]))

/** Adds the help that the text lacks, and removes families that have none. */
const completeHelp = (text: string): string => {
  const lines: Array<string> = []
  let helped: string | undefined
  let isShown = true
  for (const line of text.split("\n")) {
    const [, kind, name = ""] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? []
    if (kind === "HELP") helped = name
    if (kind === "TYPE") {
      const help = helpByName.get(name)
      isShown = helped === name || help !== undefined
      if (helped !== name && help !== undefined) lines.push(`# HELP ${name} ${help}`)
    }
    if (kind === "HELP" || isShown) lines.push(line)
  }
  return lines.join("\n")
}

export const renderMetrics = (context: Context.Context<never>): string =>
  completeHelp(PrometheusMetrics.formatUnsafe(context, { metricNameMapper: (id) => clusterMetrics[id]?.name ?? id }))
