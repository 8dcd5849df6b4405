/** Checks what the credentials of the database's document may be used for. Pure. */
import { isDeepStrictEqual } from "node:util"
import { resolve } from "../fields/Defaults.ts"
import { namedVariables } from "../credentials/Environment.ts"
import type { Path } from "../document/Path.ts"
import { formatPath, isRecord, valueAt } from "../document/Path.ts"
import { ConfigSourcesConfig } from "../schema/ConfigSources.ts"
import { named } from "../credentials/SealedPlaces.ts"
import { haveSameReceiver, isGranted, makeDestinationAt, sameDestination } from "./Destinations.ts"
import type { Destination, SecretGrant } from "./Destinations.ts"
import { secretPaths } from "./EditValue.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface GrantProblem {
  readonly code: "secret_destination_changed" | "secret_ref_missing"
  /** Path in the combined document. */
  readonly path: Path
  readonly reason: Reason
}

/**
 * Returns each variable that the database's document uses, or that the file uses and the database sends to another destination, such as that of
 * a trigger of the database, without a grant of the file. `document` is the combined, normalised document, `file` the normalised file.
 */
export const ungrantedVariables = (document: unknown, file: unknown): ReadonlyArray<GrantProblem> => {
  const grants = grantsIn(file)
  const [inFile, inDocument] = [makeDestinationAt(file), makeDestinationAt(document)]
  const ofFile = new Map(namedVariables(file).map(({ path, name }) => [keyed(file, path, name), inFile(path)]))
  return namedVariables(document).flatMap(({ path, name }) => {
    const target = named(document, path)
    const destination = inDocument(path)
    if (sameDestination(ofFile.get(JSON.stringify([target, name])), destination)) return []
    if (isGranted(grants, name, target, destination)) return []
    const advice = grantAdvice(name, target, destination)
    const reason: Reason = { _tag: "VariableNotGranted", path: formatPath(path), advice }
    return [{ code: "secret_ref_missing" as const, path, reason }]
  })
}

/** Largest number of triggers in the grant that a message proposes. */
const maxProposed = 20

const grantAdvice = (env: string, target: ReadonlyArray<string>, destination: Destination): Reason => {
  const { triggers = [] } = destination
  if (triggers.length > maxProposed) return { _tag: "SetItsTrigger", count: triggers.length }
  const grant = `[{env: ${env}, target: ${JSON.stringify(target)}, destinations: {any-id: ${JSON.stringify(destination)}}}]`
  return { _tag: "GrantInFile", grant }
}

const keyed = (tree: unknown, path: Path, name: string): string => JSON.stringify([named(tree, path), name])

const grantsIn = (file: unknown): ReadonlyArray<SecretGrant> => {
  const given = valueAt(file, ["config_sources"])
  const refs: unknown = isRecord(given) ? resolve(ConfigSourcesConfig, given).secret_refs : []
  return Array.isArray(refs) ? refs.filter(isGrant) : []
}

/** The file is read before its errors are reported: a grant without its parts grants nothing. */
const isGrant = (value: unknown): value is SecretGrant =>
  isRecord(value) && typeof value["env"] === "string" && Array.isArray(value["target"])

/** Returns each grant of the file that fits no variable of the combined document: what it was for has another destination, or is gone. */
export const unusedGrants = (
  document: unknown,
  file: unknown
): ReadonlyArray<{ readonly path: Path; readonly reason: Reason }> => {
  const uses = namedVariables(document)
  const destinationAt = makeDestinationAt(document)
  return grantsIn(file).flatMap((grant, index) => {
    const { env, target } = grant
    const use = uses.find(({ name, path }) => name === env && isDeepStrictEqual(named(document, path), target))
    if (use !== undefined && isGranted([grant], env, target, destinationAt(use.path))) return []
    const place = target.join(" ")
    const reason: Reason =
      use === undefined
        ? { _tag: "GrantUnused", variable: env, place }
        : { _tag: "GrantElsewhere", variable: env, place, destination: JSON.stringify(destinationAt(use.path)) }
    return [{ path: ["config_sources", "secret_refs", index], reason }]
  })
}

/** Identifies a credential that must go where it goes in the tree before; undefined: another one, such as one that is entered. */
export type KeptKey = (secret: unknown, path: Path) => string | undefined

/** Returns each credential of `after` that is kept and would be sent elsewhere than in `before`, or that `before` does not have. */
export const redirectedSecrets = (before: unknown, after: unknown, keyOf: KeptKey): ReadonlyArray<GrantProblem> => {
  const kept = secretPaths(after).flatMap((path) => {
    const key = keyOf(valueAt(after, path), path)
    return key === undefined ? [] : [{ key, path }]
  })
  if (kept.length === 0) return []
  const former = new Map(secretPaths(before).map((path) => [keyOf(valueAt(before, path), path), path]))
  const [inBefore, inAfter] = [makeDestinationAt(before), makeDestinationAt(after)]
  return kept.flatMap(({ key, path }) => {
    const old = former.get(key)
    return old !== undefined && haveSameReceiver(inBefore(old), inAfter(path)) ? [] : [redirected(path)]
  })
}

const redirected = (path: Path): GrantProblem => ({
  code: "secret_destination_changed",
  path,
  reason: { _tag: "DestinationChanged", path: formatPath(path) }
})
