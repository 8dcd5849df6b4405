/**
 * The closed sets of names that every part of the service shares. Canonical product names only: tokens and aliases are
 * normalised at the edge by Vocabulary.ts and do not exist behind it.
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

/** What is reviewed; GitLab merge requests are `pull_request` (specification, Events). */
export const TargetKind = Schema.Literals(["pull_request", "push", "commit", "issue", "manual", "scheduled"])
export type TargetKind = typeof TargetKind.Type

export const Severity = Schema.Literals(["info", "low", "medium", "high", "critical"])
export type Severity = typeof Severity.Type

/** Order of severities, lowest first: compare with `severityRank`. */
export const severityRank = (severity: Severity): number => Severity.literals.indexOf(severity)

export const isForgeKind = Schema.is(ForgeKind)

/** Hosts whose issues are triaged (specification, workspaces.*.triage). */
export const hasTriage = (kind: string): boolean => kind === "gitea" || kind === "forgejo"
