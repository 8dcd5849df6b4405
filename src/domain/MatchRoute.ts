/** Selects the rule of `outputs.routes` that applies to a change. Pure. */
import type { Change } from "./Change.ts"

interface Matching {
  readonly match: { readonly trigger?: string | undefined; readonly target_kind?: string | undefined }
}

/** Returns the first rule whose conditions all hold. */
export const matchRoute = <Rule extends Matching>(
  rules: ReadonlyArray<Rule>,
  { target, trigger }: Pick<Change, "trigger" | "target">
): Rule | undefined =>
  rules.find(
    ({ match }) =>
      (match.trigger === undefined || match.trigger === trigger) &&
      (match.target_kind === undefined || match.target_kind === target.kind)
  )
