/** Reads the repositories of an owner, who is an organisation, a group or a person: the hosts have different lists for them. */
import { Effect } from "effect"
import type { ForgeError } from "../ForgeError.ts"
import { isRefused } from "../http/HostWords.ts"
import { fullName, optional } from "../webhook/Payload.ts"
import type { OwnedRepository } from "./HostHooks.ts"

/** Reads a repository in a list; undefined if its name is invalid. */
export const readOwned = (
  name: string | undefined,
  hostId: number | undefined,
  isArchived: boolean | null | undefined
): OwnedRepository | undefined => {
  const found = optional(() => fullName(name, "repository"))
  return found === undefined
    ? undefined
    : { repo: { fullName: found, ...(hostId === undefined ? {} : { hostId }) }, isArchived: isArchived === true }
}

/** Returns a text that changes when the first page of a list gets another repository. */
export const toNewest = (found: ReadonlyArray<OwnedRepository>): string =>
  found.map(({ repo: { fullName: name, hostId } }) => hostId ?? name).join(" ")

/** Tries the owner as an organisation, then as a person, and remembers the result. */
export const listByOwner = <A>(
  ofOrganisation: (name: string) => Effect.Effect<A, ForgeError>,
  ofPerson: (name: string) => Effect.Effect<A, ForgeError>
): ((name: string) => Effect.Effect<A, ForgeError>) => {
  const found = new Map<string, A>()
  return (name) => {
    const key = name.toLowerCase()
    const existing = found.get(key)
    if (existing !== undefined) return Effect.succeed(existing)
    return ofOrganisation(name).pipe(
      Effect.catchIf(isRefused(["not_found"]), () => ofPerson(name)),
      Effect.tap((owner) => Effect.sync(() => found.set(key, owner)))
    )
  }
}
