/**
 * The statement of a replayed review, and that of the recorded one. Records have no secrets: what is a digest of text that may hold one is
 * taken from the recorded review where everything else of it is equal. Pure.
 */
import type { Analysis, ReviewInputs } from "../../domain/Analysis.ts"
import type { Finding } from "../../domain/Problem.ts"
import { compareFindings } from "./CompareFindings.ts"

/** Returns whether both have the same findings. Their identities may differ, which are digests of code. */
const areSame = (before: ReadonlyArray<Finding>, after: ReadonlyArray<Finding>): boolean => {
  const { added, changed, gone } = compareFindings(before, after)
  return added.length + changed.length + gone.length === 0
}

const toPrivate = ({ private: delivered = [] }: Analysis): ReadonlyArray<Finding> =>
  delivered.map(({ finding }) => finding)

const toFolded = ({ folded = [] }: Analysis): ReadonlyArray<Finding> => folded.map(({ finding }) => finding)

const toFindings = ({ refuted = [] }: Analysis): ReadonlyArray<Finding> => refuted.map(({ finding }) => finding)

const names = (inputs: ReviewInputs): string =>
  JSON.stringify(inputs.rules.map(({ name, sha256 }) => [name, sha256 !== undefined]))

/** Returns the replayed analysis with the decisions of people, which no replay repeats, and the identities of the recorded one. */
export const statedAnalysis = (recorded: Analysis, replayed: Analysis): Analysis => {
  const {
    dismissed,
    findings,
    folded = [],
    inputs,
    members,
    private: delivered = [],
    privateRefuted,
    refuted = []
  } = recorded
  const isSameRules = inputs !== undefined && replayed.inputs !== undefined && names(inputs) === names(replayed.inputs)
  return {
    ...replayed,
    ...(areSame(findings, replayed.findings) ? { findings } : {}),
    ...(folded.length > 0 && areSame(toFolded(recorded), toFolded(replayed)) ? { folded } : {}),
    ...(delivered.length > 0 && areSame(toPrivate(recorded), toPrivate(replayed)) ? { private: delivered } : {}),
    ...(privateRefuted?.length === replayed.privateRefuted?.length ? { privateRefuted } : {}),
    ...(areSame(toFindings(recorded), toFindings(replayed)) ? { refuted } : {}),
    ...(dismissed === undefined ? {} : { dismissed }),
    ...(members === undefined ? {} : { members }),
    ...(isSameRules && replayed.inputs !== undefined ? { inputs: { ...replayed.inputs, rules: inputs.rules } } : {})
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Returns the paths of the fields that differ, as deep as both have the same objects. */
const differences = (one: unknown, other: unknown, path: string): ReadonlyArray<string> => {
  if (JSON.stringify(one) === JSON.stringify(other)) return []
  if (!isRecord(one) || !isRecord(other)) return [path]
  return [...new Set([...Object.keys(one), ...Object.keys(other)])].flatMap((key) =>
    differences(one[key], other[key], path === "" ? key : `${path}.${key}`)
  )
}

/** Returns what differs between two statements: empty only if they are equal byte by byte. */
export const compareStatements = (recorded: string, replayed: string): ReadonlyArray<string> => {
  if (recorded === replayed) return []
  const found = differences(JSON.parse(recorded), JSON.parse(replayed), "")
  return found.length === 0 ? ["order of fields"] : found
}
