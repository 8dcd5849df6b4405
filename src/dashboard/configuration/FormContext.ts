/** Properties of a form that its fields use. */
import { createContext } from "react"
import type { FormKind } from "./EntityKinds.ts"
import type { FieldPath } from "./FieldValues.ts"
import type { Reason } from "../../domain/Reason.ts"

interface Form {
  readonly kind: FormKind
  /** Problems of exactly this field. */
  readonly problemsAt: (path: FieldPath) => ReadonlyArray<string>
  /** Problems of this field and of those in it. */
  readonly problemsBelow: (path: FieldPath) => ReadonlyArray<string>
  /** Origin of the value of a field; undefined: unknown, or not set. */
  readonly originAt: (path: FieldPath) => Reason | undefined
}

export const FormContext = createContext<Form>({
  kind: "workspaces",
  problemsAt: () => [],
  problemsBelow: () => [],
  originAt: () => undefined
})
