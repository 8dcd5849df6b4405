/** Recognises what only maintainers get (`review.private`). Pure. */
import type { Workspace } from "../config/Snapshot.ts"
import type { Publication } from "../domain/Publication.ts"

/** Returns whether a publication delivers private findings: no route names their channel. */
export const isPrivateRow = (
  { review }: Pick<Workspace, "review">,
  { channel }: Pick<Publication, "channel">
): boolean => review.private.channel === channel
