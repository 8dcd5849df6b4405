/**
 * Called by the transformed Defaults.ts for each field that it fills in: removes the value of one field, so that its consumer
 * gets the default. Only the suites have this; the service has no such switch.
 */
import type { FieldMeta } from "../../src/config/fields/Field.ts"
import { toPath } from "./FieldPaths.ts"

const wanted = process.env["AICR_CUT_FIELD"]

export const cut = (meta: FieldMeta, value: unknown): unknown =>
  value !== undefined && wanted !== undefined && toPath(meta) === wanted ? undefined : value
