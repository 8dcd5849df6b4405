/**
 * Closed sets of names that every part of the service shares. Canonical product names only: Vocabulary.ts normalises tokens and aliases at
 * the edge.
 */
import { Schema } from "effect"

export const ForgeKind = Schema.Literals(["gitea", "forgejo", "github", "gitlab"])
export type ForgeKind = typeof ForgeKind.Type

export const TriggerKind = Schema.Literals([
  "gitea",
  "forgejo",
  "github",
  "gitlab",
  "perforce",
  "subversion",
  "scheduled",
  "manual"
])
export type TriggerKind = typeof TriggerKind.Type

/** Systems that a change is checked out from. Their names are also those of context repositories, and of triggers of servers. */
export const VcsKind = Schema.Literals(["git", "subversion", "perforce"])
export type VcsKind = typeof VcsKind.Type

/**
 * Kind of a target; GitLab merge requests are `pull_request`. `comment`: a comment that gets a reply. `merge_group`: pull requests in the merge
 * queue of a branch, merged with what is before them there.
 */
export const TargetKind = Schema.Literals([
  "pull_request",
  "push",
  "commit",
  "issue",
  "manual",
  "scheduled",
  "comment",
  "merge_group"
])
export type TargetKind = typeof TargetKind.Type

/** Returns whether the head of a target of this kind has a verdict, which decides about a merge. */
export const isMergeable = (kind: TargetKind): boolean => kind === "pull_request" || kind === "merge_group"

export const Severity = Schema.Literals(["info", "low", "medium", "high", "critical"])
export type Severity = typeof Severity.Type

/** Returns the order of a severity, lowest first. */
export const severityRank = (severity: Severity): number => Severity.literals.indexOf(severity)

/** Returns whether a problem is high or critical: such ones are verified, and kept while nothing refutes them. */
export const isSevere = (severity: Severity): boolean => severityRank(severity) >= severityRank("high")

export const isForgeKind = Schema.is(ForgeKind)

/** Returns whether hosts or hooks call a trigger of this kind by themselves: an enabled one without deliveries is silent. */
export const isCalledByHosts = (kind: TriggerKind): boolean =>
  isForgeKind(kind) || kind === "perforce" || kind === "subversion"

/** Returns whether issues of the host can be triaged (workspaces.*.triage). */
export const hasTriage = (kind: string): boolean => kind === "gitea" || kind === "forgejo"
