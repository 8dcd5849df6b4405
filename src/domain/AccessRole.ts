/** Roles of people and programs at the administration, each with the rights of those before it. Pure. */
import { Schema } from "effect"

const accessRoles = ["viewer", "operator", "editor", "administrator"] as const

/** `viewer` reads; `operator` also controls reviews; `editor` also changes the configuration; `administrator` also manages access. */
export const AccessRole = Schema.Literals(accessRoles)
export type AccessRole = typeof AccessRole.Type

/** Returns whether a role has the rights of another one. */
export const includesRole = (role: AccessRole, least: AccessRole): boolean =>
  accessRoles.indexOf(role) >= accessRoles.indexOf(least)
