/** Handles a host that refuses the credential of a review: another one may be in force, and otherwise it may be renewed. */
import { Effect } from "effect"
import { ConfigStore } from "../../src/config/ConfigStore.ts"
import type { TriggerProfile } from "../../src/config/Snapshot.ts"
import { ForgeError } from "../../src/forge/ForgeError.ts"
import { currentProfile } from "../../src/forge/CurrentProfile.ts"
import { Forges } from "../../src/forge/Forges.ts"
import { isCredentialLost } from "../../src/forge/LostCredential.ts"
import { loadSubject } from "./ReviewSubject.ts"
import type { ReviewWork } from "./ReviewWork.ts"

const mayBeLost = ({ reason }: ForgeError): boolean => reason === "unauthorized" || reason === "not_found"

/** Reads with the credential of the admission; if the host refuses it, with that of the current configuration for the same host. */
export const readWithCurrent = Effect.fnUntraced(function* <A, E, R>(
  admitted: TriggerProfile,
  read: (profile: TriggerProfile) => Effect.Effect<A, E | ForgeError, R>
) {
  const { current } = yield* ConfigStore
  return yield* Effect.catchIf(
    read(admitted),
    (error) => error instanceof ForgeError && mayBeLost(error),
    (error) => {
      const other = currentProfile(admitted, current(), admitted.name)
      return other === undefined ? Effect.fail(error) : read(other)
    }
  )
})

/** Loads the subject, and returns the work with the profile by which the host can be read. */
export const loadReadable = (admitted: ReviewWork) =>
  readWithCurrent(admitted.profile, (profile) => {
    const { name } = admitted.profile
    const work = profile === admitted.profile ? admitted : { ...admitted, profile: { ...profile, name } }
    return Effect.map(loadSubject(work), (subject) => ({ work, subject }))
  })

/**
 * Returns whether the host refuses the credential altogether, so that the review waits for it. A repository that cannot be read counts only
 * if the host itself reported the change: another one may not exist.
 */
export const waitsForCredential = Effect.fnUntraced(function* ({ entry, profile }: ReviewWork, error: ForgeError) {
  const { repo } = entry.change
  if (error.reason === "not_found" && repo.hostId === undefined) return false
  return yield* isCredentialLost((yield* Forges).client(profile), repo, error)
})
