/** Roles of a node. A node without a role leaves that work to other nodes. */

export const roles = ["ingress", "actors", "executor", "publisher", "chat", "dashboard"] as const
export type Role = (typeof roles)[number]

export const isRole = (name: string): name is Role => (roles as ReadonlyArray<string>).includes(name)

/** Roles that take a review from the queue to its publication. */
export const workingRoles = ["actors", "executor", "publisher"] as const satisfies ReadonlyArray<Role>

/** Returns whether one process with these roles needs no bus: without one the working roles find each other in one process only. */
export const isSingleNode = (held: ReadonlySet<Role>): boolean => workingRoles.every((role) => held.has(role))
