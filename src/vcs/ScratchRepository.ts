/** Creates a repository from given files, for changes that exist in no repository; used by `aicr eval`. */
import { Context } from "effect"
import type { Effect, Scope } from "effect"
import type { CheckoutError } from "./Checkout.ts"
import type { LocalRange } from "./LocalRepository.ts"

export interface ScratchChange {
  /** Contents by path. */
  readonly before: ReadonlyMap<string, string>
  readonly after: ReadonlyMap<string, string>
  /** Message of the commit that makes the change. */
  readonly message: string
}

export class ScratchRepository extends Context.Service<
  ScratchRepository,
  {
    /** Returns a range per change, in order, in one repository that is removed with the scope. */
    readonly make: (
      changes: ReadonlyArray<ScratchChange>
    ) => Effect.Effect<ReadonlyArray<LocalRange>, CheckoutError, Scope.Scope>
  }
>()("aicr/vcs/ScratchRepository") {}
