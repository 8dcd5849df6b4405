/** Handles a host that refuses the credential of a review: another one may be in force, and otherwise it may be renewed. */
import { Effect } from "effect"
import { ConfigStore } from "../src/config/ConfigStore.ts"
import type { ForgeError } from "../src/forge/ForgeError.ts"
import { currentProfile } from "../src/forge/CurrentProfile.ts"
import { Forges } from "../src/forge/Forges.ts"
import { isCredentialLost } from "../src/forge/LostCredential.ts"
import { loadSubject } from "./ReviewSubject.ts"
import type { ReviewWork } from "./ReviewWork.ts"

/** Loads the subject, with the current configuration's credential for the same host if the one of the admission is refused. */
export const loadReadable = Effect.fnUntraced(function* (admitted: ReviewWork) {
  const load = (work: ReviewWork) => Effect.map(loadSubject(work), (subject) => ({ work, subject }))
  const { name } = admitted.profile
  const { current } = yield* ConfigStore
  return yield* Effect.catchTag(load(admitted), "ForgeError", (error) => {
    const other = mayBeLost(error) ? currentProfile(admitted.profile, current(), name) : undefined
    return other === undefined ? Effect.fail(error) : load({ ...admitted, profile: { ...other, name } })
  })
})

const mayBeLost = ({ reason }: ForgeError): boolean => reason === "unauthorized" || reason === "not_found"

/**
 * Returns whether the host refuses the credential altogether, so that the review waits for it. A repository that cannot be read counts only
 * if the host itself reported the change: another one may not exist.
 */
export const waitsForCredential = Effect.fnUntraced(function* ({ entry, profile }: ReviewWork, error: ForgeError) {
  const { repo } = entry.change
  if (error.reason === "not_found" && repo.hostId === undefined) return false
  return yield* isCredentialLost((yield* Forges).client(profile), repo, error)
})
