/**
 * What the transformed Defaults.ts calls for each field that it fills in: takes the value of one field away, so that its consumer gets
 * the default. Only the suites have this; the service has no such switch.
 */
import type { FieldMeta } from "../../src/config/Field.ts"
import { pathOf } from "./FieldPaths.ts"

const wanted = process.env["AICR_CUT_FIELD"]

export const cut = (meta: FieldMeta, value: unknown): unknown =>
  value !== undefined && wanted !== undefined && pathOf(meta) === wanted ? undefined : value
