import { stormsAreWeathered } from './storms.js';

stormsAreWeathered('postgres');
