/** Checks what the credentials of the database's document may be used for. Pure. */
import { Redacted } from "effect"
import { isDeepStrictEqual } from "node:util"
import { resolve } from "../Defaults.ts"
import { namedVariables } from "../Environment.ts"
import type { Path } from "../Path.ts"
import { formatPath, isRecord, valueAt } from "../Path.ts"
import { isSealed } from "../Sealing.ts"
import { ConfigSourcesConfig } from "../schema/ConfigSources.ts"
import { named, positions } from "../SealedPlaces.ts"
import { isGranted, makeDestinationAt, sameDestination } from "./Destinations.ts"
import type { Destination, SecretGrant } from "./Destinations.ts"
import { secretPaths } from "./EditValue.ts"
import { formerName, formerNames } from "./Renames.ts"
import type { Rename } from "./Renames.ts"

export interface GrantProblem {
  readonly code: "secret_destination_changed" | "secret_ref_missing"
  /** Path in the combined document. */
  readonly path: Path
  readonly message: string
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
    const message = `the database may not use the environment variable of ${formatPath(path)} here; ${grantAdvice(name, target, destination)}`
    return [{ code: "secret_ref_missing" as const, path, message }]
  })
}

/** Largest number of triggers in the grant that a message proposes. */
const maxProposed = 20

const grantAdvice = (env: string, target: ReadonlyArray<string>, destination: Destination): string => {
  const { triggers = [] } = destination
  if (triggers.length > maxProposed)
    return `this channel serves ${triggers.length} triggers; set its trigger, then grant the variable for it in the file (config_sources.secret_refs)`
  return `grant it in the file: config_sources.secret_refs: [{env: ${env}, target: ${JSON.stringify(target)}, destinations: {any-id: ${JSON.stringify(destination)}}}]`
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
): ReadonlyArray<{ readonly path: Path; readonly message: string }> => {
  const uses = namedVariables(document)
  const destinationAt = makeDestinationAt(document)
  return grantsIn(file).flatMap((grant, index) => {
    const { env, target } = grant
    const use = uses.find(({ name, path }) => name === env && isDeepStrictEqual(named(document, path), target))
    if (use !== undefined && isGranted([grant], env, target, destinationAt(use.path))) return []
    const field = target.join(" ")
    const message =
      use === undefined
        ? `grants ${env} to ${field}, which does not use it; remove the grant, or publish what it is for`
        : `grants ${env} to ${field} for another destination than ${JSON.stringify(destinationAt(use.path))}; correct its destinations, or remove it`
    return [{ path: ["config_sources", "secret_refs", index], message }]
  })
}

/**
 * Returns each stored credential that would be sent to another destination than before without being entered again. That of a renamed entity
 * was sealed again: it is compared with the one under the former name.
 */
export const redirectedSecrets = (
  before: unknown,
  after: unknown,
  renames: ReadonlyArray<Rename> = []
): ReadonlyArray<GrantProblem> => {
  const [inBefore, inAfter] = [makeDestinationAt(before), makeDestinationAt(after)]
  return secretPaths(after).flatMap((path) => {
    const names = named(after, path)
    const former = formerNames(renames, names)
    const old = positions(before, former)
    if (old === undefined) return []
    const [left, right] = [valueAt(before, old), valueAt(after, path)]
    const isKept = isDeepStrictEqual(former, names) ? sameSecret(left, right) : isStored(right)
    if (!isKept || sameDestination(inBefore(old), withFormerNames(inAfter(path), renames))) return []
    return [redirected(path)]
  })
}

/**
 * Returns each credential of `texts` in `after` that has none of the destinations that it has in `before`: one text may be at several places. For
 * two results of one edit, in which a credential may be at another place.
 */
export const redirectedTexts = (
  before: unknown,
  after: unknown,
  texts: (text: unknown) => boolean
): ReadonlyArray<GrantProblem> => {
  const [inBefore, inAfter] = [makeDestinationAt(before), makeDestinationAt(after)]
  const former = Map.groupBy(secretPaths(before), (path) => secretText(before, path))
  return secretPaths(after).flatMap((path) => {
    const text = secretText(after, path)
    const places = texts(text) ? (former.get(text) ?? []) : []
    const destination = inAfter(path)
    if (places.length === 0 || places.some((place) => sameDestination(inBefore(place), destination))) return []
    return [redirected(path)]
  })
}

const secretText = (tree: unknown, path: Path): unknown => {
  const value = valueAt(tree, path)
  return Redacted.isRedacted(value) ? Redacted.value(value) : undefined
}

const redirected = (path: Path): GrantProblem => ({
  code: "secret_destination_changed",
  path,
  message: `${formatPath(path)} would be sent to another destination; enter the credential again`
})

/** Returns a destination in which renamed triggers and connections have their former names. */
const withFormerNames = (
  { connection, trigger, ...rest }: Destination,
  renames: ReadonlyArray<Rename>
): Destination => ({
  ...rest,
  ...(trigger === undefined ? {} : { trigger: { ...trigger, name: formerName(renames, "triggers", trigger.name) } }),
  ...(connection === undefined
    ? {}
    : { connection: { ...connection, name: formerName(renames, "im_connections", connection.name) } })
})

const isStored = (value: unknown): boolean => Redacted.isRedacted(value) && isSealed(String(Redacted.value(value)))

const sameSecret = (left: unknown, right: unknown): boolean =>
  Redacted.isRedacted(left) && Redacted.isRedacted(right) && Redacted.value(left) === Redacted.value(right)
