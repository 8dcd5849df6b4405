/** Selects the notices of a review that its summary shows. The record of the run has all of them. Pure. */
import type { Reason } from "../../domain/Reason.ts"

/** Notices for operators: about models, agents, sandboxes and settings. Readers of a review cannot do anything about them. */
const forOperators: ReadonlySet<Reason["_tag"]> = new Set([
  "FellBack",
  "FellBackWithoutCalls",
  "AgentRequestRefused",
  "AgentUntested",
  "ToolsRemoved",
  "SearchUntranslatable",
  "SearchWithoutProvider",
  "UnneededPath",
  "WithoutSandbox",
  "ProcessorEmulated",
  "ProblemsEmpty",
  "ProblemsBelowSeverity",
  "ProblemsRefuted",
  "RulesMuted",
  "SettingsNotAllowed",
  "ProblemsUndecided",
  "FilesFramed",
  // The line of coverage has their number.
  "FilesUnchanged"
])

export const isForReaders = ({ _tag }: Reason): boolean => !forOperators.has(_tag)
