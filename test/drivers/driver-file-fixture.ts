import { writeFile } from 'node:fs/promises';
import { neverAborted } from '../support/postgres-source.ts';
import { driverOf, rejectionOf, useFiles, type OpenFile } from '../support/uploaded-source.ts';

export const SELECT_ALL = 'select * from data';

/** Sets up a folder for the uploaded files of a test file, and functions that upload to it. */
export function useUploads() {
  const files = useFiles();
  let uploads = 0;

  const detectConfig = (name: string, filename: string) =>
    driverOf('file').upload!.detectConfig(files.path(name), filename, neverAborted);

  /** Uploads a file. Returns the detected config, and the open file. */
  async function upload(
    content: string | Buffer,
    filename = 'x.csv',
  ): Promise<{ config: Record<string, unknown>; name: string; file: OpenFile }> {
    const name = `upload-${uploads++}`;
    await writeFile(files.path(name), content);
    const config = (await detectConfig(name, filename))!;
    return { config, name, file: files.open('file', name, config) };
  }

  /** Uploads a file and reads its rows as a dataset does. */
  async function readRows(content: string | Buffer, filename?: string) {
    const { file } = await upload(content, filename);
    const { fields, rows } = await file.query(SELECT_ALL, [], 1000);
    return { types: fields.map(({ name, type }) => `${name} ${type}`), rows: rows.map((row) => Object.values(row)) };
  }

  /** Returns the error with which the upload of a file fails. */
  const uploadFailure = async (content: string | Buffer, filename?: string) =>
    (await rejectionOf(upload(content, filename))) as { status: number; message: string };

  /** Opens a small CSV file. */
  async function openSmallFile(): Promise<OpenFile> {
    await writeFile(files.path('small'), 'a,b\n1,x\n2,y\n');
    return files.open('file', 'small', {
      format: 'csv',
      delimiter: ',',
      skip: 0,
      header: true,
      columns: [
        { name: 'a', type: 'BIGINT' },
        { name: 'b', type: 'VARCHAR' },
      ],
    });
  }

  return { files, detectConfig, upload, readRows, uploadFailure, openSmallFile };
}
