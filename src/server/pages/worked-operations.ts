/**
 * The operations with which GraphiQL opens. On the demo they run in this order. See
 * docs/contract/running.md#running-it.
 */
export const WORKED_OPERATIONS = `# Worked operations on the demo.
# Log in at / first. Then press Ctrl+Enter in one,
# or choose it from the menu of the Execute button.
# Ctrl+Space completes names. The book at the left
# opens the documentation of the schema.

# Who am I, and which datasets can I read?
query Datasets {
  me {
    username
  }
  datasets(sort: "name", limit: 10) {
    total
    hasNextPage
    items {
      id
      name
      records
      dataUpdatedAt
    }
  }
}

# Rows of a dataset, and figures over all its rows.
# A dataset is named by its id or its slug. The filter
# is JSON: a text here, an object in variables.
query Rows {
  dataset(id: "orders") {
    data(
      filter: """
      {"country": {"$in": ["France", "Spain"]}, "total": {"$gte": 100}}
      """
      sort: "-total"
      fields: ["customer", "country", "total"]
      limit: 5
    ) {
      items
      total
      # Cursor of the next page: data(after: "...").
      next
      fields {
        name
        type
      }
    }
    aggregate(
      groupBy: [{ field: "ordered_at", interval: MONTH }]
      measures: [{ fn: COUNT, as: "orders" }, { fn: SUM, field: "total", as: "turnover" }]
    ) {
      columns {
        name
      }
      rows
    }
  }
}

# Creates a query on the demo shop and a dataset of it.
# A second call is a CONFLICT: the slug is in use.
mutation CreateDataset {
  createSavedQuery(
    input: {
      name: "Large orders"
      slug: "large-orders"
      datasourceId: "demo-shop"
      query: "select id, ordered_at, status, total from orders where total >= {{minimum}}"
      params: [{ name: "minimum", dataType: NUMBER, defaultValue: 1000 }]
    }
  ) {
    id
  }
  createDataset(input: { name: "Large orders", slug: "large-orders", queryId: "large-orders" }) {
    id
    query
  }
}

# Loads its rows. The call returns at once, and
# "progress" is your own name for the operation.
mutation Refresh {
  refreshDataset(id: "large-orders", params: { minimum: 500 }, progress: "my refresh", wait: false) {
    operation {
      id
      status
    }
  }
}

# Follows the refresh. It ends with the final state.
subscription Progress {
  progress(id: "my refresh") {
    status
    current
    percent
    message
    error {
      message
    }
  }
}

# Shares the dataset with a user. Replace "admin"
# with a username.
mutation Share {
  shareDataset(id: "large-orders", principalId: "admin", input: { accessLevel: VIEW }) {
    accessLevel
    principal {
      name
      type
    }
  }
}

# Errors have a code in "extensions". The results
# of the other fields are in "data".
query Errors {
  orders: dataset(id: "orders") {
    name
  }
  # NOT_FOUND
  missing: dataset(id: "no-such-dataset") {
    name
  }
  # BAD_USER_INPUT, with the invalid values in "validation"
  invalid: dataset(id: "orders") {
    data(limit: 0) {
      items
    }
  }
}
`;
