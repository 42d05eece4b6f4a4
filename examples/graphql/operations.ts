import { graphql } from './generated/gql.ts';

/** One page of the datasets that the caller can read. */
export const DATASETS = graphql(`
  query Datasets($start: Int! = 0, $limit: Int! = 20) {
    datasets(sort: "name", start: $start, limit: $limit) {
      start
      count
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
`);

/** The first rows of a dataset. It is null, with an error, if the caller cannot read it. */
export const ROWS = graphql(`
  query Rows($id: ID!, $filter: RowFilter, $limit: Int! = 5) {
    dataset(id: $id) {
      id
      name
      data(filter: $filter, limit: $limit) {
        total
        fields {
          name
          type
        }
        items
      }
    }
  }
`);

/** Starts a refresh without waiting for its end. */
export const REFRESH = graphql(`
  mutation Refresh($id: ID!) {
    refreshDataset(id: $id, wait: false) {
      operation {
        id
      }
    }
  }
`);

/** The states of an operation, until its end. */
export const PROGRESS = graphql(`
  subscription Progress($id: ID!) {
    progress(id: $id) {
      id
      status
      current
      percent
      message
      error {
        code
        message
      }
    }
  }
`);

export const CREATE_DATASET = graphql(`
  mutation CreateDataset($input: CreateDatasetInput!) {
    createDataset(input: $input) {
      id
      name
    }
  }
`);

/** Requires a session: a token may not create others. */
export const CREATE_TOKEN = graphql(`
  mutation CreateToken($input: CreateTokenInput!) {
    createToken(input: $input) {
      token
    }
  }
`);

/** A dataset together with one that may be missing: each has its own error. */
export const TWO_DATASETS = graphql(`
  query TwoDatasets($first: ID!, $second: ID!) {
    first: dataset(id: $first) {
      id
      name
    }
    second: dataset(id: $second) {
      id
      name
    }
  }
`);
