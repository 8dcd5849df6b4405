import type { Database } from "./database.js"

export interface Parcel {
  readonly id: string
  readonly recipient: string
  readonly status: "announced" | "in_transit" | "delivered" | "returned"
  readonly weightGrams: number
}

export class Parcels {
  readonly #db: Database

  constructor(db: Database) {
    this.#db = db
  }

  async byId(id: string): Promise<Parcel | undefined> {
    const { rows } = await this.#db.query<Parcel>("SELECT * FROM parcels WHERE id = $1", [id])
    return rows[0]
  }

  async markReturned(id: string): Promise<void> {
    await this.#db.query("UPDATE parcels SET status = 'returned' WHERE id = $1", [id])
  }
}
